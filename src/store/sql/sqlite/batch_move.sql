-- ?1 key, ?2 at expected, ?3 at, ?4 next_us, ?5 status running, ?6 status when all is done, ?7 now_us, ?8 epoch,
-- ?9 lease_until_us. Flag: it is still at the place and under the epoch that the step began with. One that was paused or
-- aborted meanwhile keeps what the step did, stays as it is, and stays nobody's.
UPDATE batch SET at = ?3, next_us = ?4, lease_until_us = CASE WHEN owner IS NULL THEN NULL ELSE ?9 END,
    closed_us = CASE WHEN ?3 >= total AND status = ?5 THEN ?7 ELSE closed_us END,
    status = CASE WHEN ?3 >= total AND status = ?5 THEN ?6 ELSE status END
WHERE key = ?1 AND at = ?2 AND epoch = ?8
