-- Workflow tasks that nobody takes: due for long, or their lease is over; fair between scopes, which are a queue and a
-- compatibility marker: the first of each scope, then the second of each. No more of a queue are looked at than are
-- asked for, however many wait.
-- ?1 now_us, ?2 due before, ?3 how many, ?4 after how many -> key, run, epoch, repair_count, status, type, shard
WITH RECURSIVE q(queue) AS (
    SELECT min(queue) FROM task
    UNION ALL
    SELECT (SELECT min(t.queue) FROM task t WHERE t.queue > q.queue) FROM q WHERE q.queue IS NOT NULL
)
SELECT c.key, c.run, c.epoch, c.repair_count, c.status, i.type, i.shard FROM (
    SELECT t.key, t.run, t.epoch, t.repair_count, t.status, t.queue, s.compatibility,
        row_number() OVER (PARTITION BY t.queue, s.compatibility ORDER BY t.available_us, t.key) AS place
    FROM q CROSS JOIN task t ON t.key IN (
        SELECT x.key FROM task x
        WHERE x.queue = q.queue AND x.kind = 1 AND coalesce(x.repair_us, 0) <= ?1
            AND ((x.status = 1 AND x.available_us <= ?2) OR (x.status = 2 AND x.lease_until_us <= ?1))
        ORDER BY x.priority, x.available_us, x.key LIMIT ?3 + ?4)
    LEFT JOIN run_summary s ON s.run = t.run
) c JOIN run r ON r.key = c.run JOIN instance i ON i.key = r.instance
ORDER BY c.place, c.queue, c.compatibility LIMIT ?3 OFFSET ?4
