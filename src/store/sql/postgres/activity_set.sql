UPDATE activity a SET status = u.status, attempt = u.attempt, lost_attempts = u.lost_attempts,
    deadline_us = u.deadline_us, started_us = u.started_us, closed_us = u.closed_us,
    available_us = u.available_us, crash_count = u.crash_count, missed_starts = u.missed_starts,
    owner = u.owner, lease_until_us = u.lease_until_us
FROM {rows key int, status int, attempt int, lost_attempts int, deadline_us int, started_us int, closed_us int, available_us int, crash_count int, missed_starts int, owner text, lease_until_us int}
WHERE a.key = u.key
