-- The task may be taken again, whatever was wrong with it. ?1 key, ?2 available_us
UPDATE task SET status = 1, available_us = ?2, epoch = epoch + 1, token = NULL, owner = NULL, lease_until_us = NULL,
    body = NULL, repair_count = repair_count + 1, trouble = 0, repair_us = NULL
WHERE key = ?1
