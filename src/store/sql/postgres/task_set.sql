UPDATE task t SET status = u.status, epoch = u.epoch, token = u.token, owner = u.owner,
    lease_until_us = u.lease_until_us, attempt = u.attempt, source_key = u.source_key
FROM {rows key int, status int, epoch int, token blob, owner text, lease_until_us int, attempt int, source_key int}
WHERE t.key = u.key
