UPDATE task t SET status = u.ready, token = NULL, owner = NULL, lease_until_us = NULL, available_us = u.available_us
FROM {bare key int, epoch int, token blob, ready int, available_us int}
WHERE t.key = u.key AND t.epoch = u.epoch AND t.token = u.token
RETURNING u.row
