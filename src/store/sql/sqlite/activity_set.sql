-- ?1 key, ?2 status, ?3 attempt, ?4 lost_attempts, ?5 deadline_us, ?6 started_us, ?7 closed_us, ?8 available_us,
-- ?9 crash_count, ?10 missed_starts, ?11 owner, ?12 lease_until_us
UPDATE activity SET status = ?2, attempt = ?3, lost_attempts = ?4, deadline_us = ?5, started_us = ?6, closed_us = ?7,
    available_us = ?8, crash_count = ?9, missed_starts = ?10, owner = ?11,
    lease_until_us = ?12
WHERE key = ?1
