-- ?1 key, ?2 epoch expected, ?3 owner, ?4 lease_until_us, ?5 now_us, ?6 status running. Flag: it is the owner's now.
UPDATE batch SET owner = ?3, epoch = epoch + 1, lease_until_us = ?4
WHERE key = ?1 AND epoch = ?2 AND status = ?6 AND (owner IS NULL OR owner = ?3 OR lease_until_us <= ?5)
