-- ?1 key, ?2 status, ?3 epoch, ?4 token, ?5 owner, ?6 lease_until_us, ?7 attempt, ?8 source_key: the task of a unit moves.
UPDATE task SET status = ?2, epoch = ?3, token = ?4, owner = ?5, lease_until_us = ?6, attempt = ?7, source_key = ?8
WHERE key = ?1
