-- ?1 activity, ?2 namespace -> key, run, step, scheduled_us, attempt, missed_starts, status, deadline_us, closed_us, shard
SELECT a.key, a.run, a.step, a.scheduled_us, a.attempt, a.missed_starts, a.status, a.deadline_us, a.closed_us, i.shard
FROM activity a JOIN run r ON r.key = a.run JOIN instance i ON i.key = r.instance
WHERE a.key = ?1 AND i.namespace = ?2
