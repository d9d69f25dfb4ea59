UPDATE batch b SET at = u.at, next_us = u.next_us,
    lease_until_us = CASE WHEN b.owner IS NULL THEN NULL ELSE u.lease_until_us END,
    closed_us = CASE WHEN u.at >= b.total AND b.status = u.running THEN u.now_us ELSE b.closed_us END,
    status = CASE WHEN u.at >= b.total AND b.status = u.running THEN u.done ELSE b.status END
FROM {bare key int, expected int, at int, next_us int, running int, done int, now_us int, epoch int, lease_until_us int}
WHERE b.key = u.key AND b.at = u.expected AND b.epoch = u.epoch
RETURNING u.row
