-- ?1 run -> its activity rows: key, step, type, status, attempt, lost_attempts, max_attempts, available_us, deadline_us,
-- scheduled_us, started_us, closed_us
SELECT key, step, type, status, attempt, lost_attempts, max_attempts, available_us, deadline_us, scheduled_us, started_us,
    closed_us
FROM activity WHERE run = ?1 ORDER BY step
