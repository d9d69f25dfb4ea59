UPDATE task t SET status = 1, available_us = u.available_us, epoch = t.epoch + 1, token = NULL, owner = NULL,
    lease_until_us = NULL, repair_count = t.repair_count + 1, repair_us = u.repair_us
FROM {bare key int, epoch int, available_us int, repair_us int}
WHERE t.key = u.key AND t.epoch = u.epoch AND t.status IN (1, 2)
RETURNING u.row
