UPDATE activity a SET status = 1, lost_attempts = u.lost_attempts, deadline_us = u.deadline_us,
    available_us = u.available_us, started_us = NULL, lease_until_us = NULL
FROM {bare key int, attempt int, lost_attempts int, deadline_us int, available_us int}
WHERE a.key = u.key AND a.attempt = u.attempt AND a.status = 2
RETURNING u.row
