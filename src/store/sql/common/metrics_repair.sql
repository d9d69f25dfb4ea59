-- ?1 now, ?2 overdue before, ?3 namespace, ?4 how many at most -> workflow tasks that a repair would hand out again, by
-- queue and marker: queue, marker, tasks, when the oldest was made
SELECT t.queue, s.compatibility, count(*), min(t.created_us)
FROM task t JOIN run_summary s ON s.run = t.run
WHERE s.namespace = ?3 AND t.kind = 1 AND coalesce(t.repair_us, 0) <= ?1
    AND ((t.status = 1 AND t.available_us <= ?2) OR (t.status = 2 AND t.lease_until_us <= ?1))
GROUP BY t.queue, s.compatibility ORDER BY count(*) DESC, t.queue LIMIT ?4
