UPDATE attempt t SET status = u.status, closed_us = u.closed_us, lease_until_us = NULL
FROM {rows activity int, number int, status int, closed_us int}
WHERE t.activity = u.activity AND t.number = u.number
