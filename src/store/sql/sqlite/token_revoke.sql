-- ?1 id, ?2 revoked_us. Flag: there was such a token, and it was not revoked yet.
UPDATE token SET revoked_us = ?2 WHERE id = ?1 AND revoked_us IS NULL
