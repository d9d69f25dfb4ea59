-- ?1 namespace, ?2 now, ?3 how many -> open activities whose next timeout has passed, the longest overdue first: key, run,
-- step, scheduled_us, attempt, missed_starts, status, deadline_us, closed_us, shard
SELECT a.key, a.run, a.step, a.scheduled_us, a.attempt, a.missed_starts, a.status, a.deadline_us, a.closed_us, i.shard
FROM activity a JOIN run r ON r.key = a.run JOIN instance i ON i.key = r.instance
WHERE a.deadline_us <= ?2 AND a.closed_us IS NULL AND i.namespace = ?1
ORDER BY a.deadline_us, a.key LIMIT ?3
