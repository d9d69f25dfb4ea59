-- It has answered. ?1 key, ?2 used_us, ?3 used_from. Flag: it was not used yet.
UPDATE answer_link SET used_us = ?2, used_from = ?3 WHERE key = ?1 AND used_us IS NULL
