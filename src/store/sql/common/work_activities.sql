-- Open activities. ?1 after key, ?2 how many -> key, run, step, type, status, attempt, lost_attempts, deadline_us,
-- close_deadline_us, scheduled_us, started_us, policy
SELECT key, run, step, type, status, attempt, lost_attempts, deadline_us, close_deadline_us, scheduled_us, started_us,
       policy
FROM activity WHERE closed_us IS NULL AND key > ?1 ORDER BY key LIMIT ?2
