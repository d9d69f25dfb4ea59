-- ?1 key, ?2 epoch, ?3 token, ?4 lease_until_us. Flag: the claim still holds.
UPDATE task SET lease_until_us = ?4 WHERE key = ?1 AND epoch = ?2 AND token = ?3
