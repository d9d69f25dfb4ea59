UPDATE activity a SET lease_until_us = u.lease_until_us
FROM {rows key int, attempt int, lease_until_us int}
WHERE a.key = u.key AND a.attempt = u.attempt AND a.status = 2
