UPDATE task t SET status = 1, available_us = u.available_us, epoch = t.epoch + 1, token = NULL, owner = NULL,
    lease_until_us = NULL, body = NULL, repair_count = t.repair_count + 1, trouble = 0, repair_us = NULL
FROM {rows key int, available_us int}
WHERE t.key = u.key
