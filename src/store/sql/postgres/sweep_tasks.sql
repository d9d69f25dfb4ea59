WITH RECURSIVE q(queue) AS (
    SELECT min(queue) FROM task
    UNION ALL
    SELECT (SELECT min(t.queue) FROM task t WHERE t.queue > q.queue) FROM q WHERE q.queue IS NOT NULL
)
SELECT c.key, c.run, c.epoch, c.repair_count, c.status, i.type, i.shard FROM (
    SELECT t.*, s.compatibility,
        row_number() OVER (PARTITION BY t.queue, s.compatibility ORDER BY t.available_us, t.key) AS place
    FROM q CROSS JOIN LATERAL (
        SELECT x.key, x.run, x.epoch, x.repair_count, x.status, x.queue, x.available_us FROM task x
        WHERE x.queue = q.queue AND x.kind = 1 AND coalesce(x.repair_us, 0) <= ?1
            AND ((x.status = 1 AND x.available_us <= ?2) OR (x.status = 2 AND x.lease_until_us <= ?1))
        ORDER BY x.priority, x.available_us, x.key LIMIT ?3 + ?4
    ) t LEFT JOIN run_summary s ON s.run = t.run
) c JOIN run r ON r.key = c.run JOIN instance i ON i.key = r.instance
ORDER BY c.place, c.queue, c.compatibility LIMIT ?3 OFFSET ?4
