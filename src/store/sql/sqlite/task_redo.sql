-- The watchdog hands a task out again. ?1 key, ?2 epoch expected, ?3 available_us, ?4 repair_us: not again before.
-- Flag: it is still as the watchdog saw it.
UPDATE task SET status = 1, available_us = ?3, epoch = epoch + 1, token = NULL, owner = NULL, lease_until_us = NULL,
    repair_count = repair_count + 1, repair_us = ?4
WHERE key = ?1 AND epoch = ?2 AND status IN (1, 2)
