-- ?1 key, ?2 at expected, ?3 at, ?4 next_us, ?5 status running, ?6 status when all is done, ?7 now_us, ?8 epoch,
-- ?9 lease_until_us. Flag: it is still the owner's of that epoch.
UPDATE batch SET at = ?3, next_us = ?4, lease_until_us = ?9,
    closed_us = CASE WHEN ?3 >= total AND closed_us IS NULL THEN ?7 ELSE closed_us END,
    status = CASE WHEN ?3 >= total AND status = ?5 THEN ?6 ELSE status END
WHERE key = ?1 AND at = ?2 AND epoch = ?8
