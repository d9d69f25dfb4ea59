UPDATE batch b SET owner = NULL, lease_until_us = NULL
FROM {bare key int, epoch int}
WHERE b.key = u.key AND b.epoch = u.epoch
RETURNING u.row
