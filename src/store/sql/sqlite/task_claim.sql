-- ?1 key, ?2 epoch expected, ?3 epoch, ?4 token, ?5 owner, ?6 lease_until_us, ?7 status ready, ?8 status leased.
-- Flag: this claim holds the task. A repetition with the same token holds too, so that a lost answer can be asked again; a task of a paused run is nobody's.
UPDATE task SET status = ?8, epoch = ?3, token = ?4, owner = ?5, lease_until_us = ?6,
    attempt = CASE WHEN token IS ?4 THEN attempt ELSE attempt + 1 END
WHERE key = ?1 AND ((epoch = ?2 AND status = ?7
        AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = task.run AND r.paused_us IS NOT NULL)) OR token = ?4)
