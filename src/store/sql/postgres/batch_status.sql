UPDATE batch b SET status = u.status, closed_us = u.closed_us, owner = NULL, lease_until_us = NULL
FROM {bare key int, expected int, status int, closed_us int}
WHERE b.key = u.key AND b.status = u.expected
RETURNING u.row
