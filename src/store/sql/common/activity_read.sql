-- ?1 run -> its open activities: key, step, type, status, attempt, lost_attempts, close_deadline_us, policy, available_us,
-- scheduled_us, crash_count, missed_starts, owner, lease_until_us
SELECT key, step, type, status, attempt, lost_attempts, close_deadline_us, policy, available_us, scheduled_us,
    crash_count, missed_starts, owner, lease_until_us
FROM activity WHERE run = ?1 AND closed_us IS NULL ORDER BY step
