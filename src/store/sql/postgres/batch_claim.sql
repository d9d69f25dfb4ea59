UPDATE batch b SET owner = u.owner, epoch = b.epoch + 1, lease_until_us = u.lease_until_us
FROM {bare key int, expected int, owner int, lease_until_us int, now_us int, running int}
WHERE b.key = u.key AND b.epoch = u.expected AND b.status = u.running
    AND (b.owner IS NULL OR b.owner = u.owner OR b.lease_until_us <= u.now_us)
RETURNING u.row
