UPDATE task t SET lease_until_us = u.lease_until_us
FROM {bare key int, epoch int, token blob, lease_until_us int}
WHERE t.key = u.key AND t.epoch = u.epoch AND t.token = u.token
RETURNING u.row
