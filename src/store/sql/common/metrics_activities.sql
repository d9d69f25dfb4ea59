-- ?1 now -> open, pending, running, retrying, a timeout overdue, most attempts, lost attempts, oldest retrying, oldest
-- overdue, attempts that failed
SELECT count(*), sum(CASE WHEN status = 1 THEN 1 ELSE 0 END), sum(CASE WHEN status = 2 THEN 1 ELSE 0 END),
    sum(CASE WHEN status = 1 AND attempt > 0 THEN 1 ELSE 0 END), sum(CASE WHEN deadline_us < ?1 THEN 1 ELSE 0 END),
    max(attempt), CAST(sum(lost_attempts) AS {int}), min(CASE WHEN status = 1 AND attempt > 0 THEN scheduled_us END),
    min(CASE WHEN deadline_us < ?1 THEN deadline_us END),
    CAST(sum(CASE WHEN status = 2 THEN attempt - 1 ELSE attempt END - lost_attempts) AS {int})
FROM activity WHERE closed_us IS NULL
