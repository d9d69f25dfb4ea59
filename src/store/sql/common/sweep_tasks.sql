-- Workflow tasks that nobody takes: due for long, or their lease is over; fair between queues: the first of each queue,
-- then the second of each. ?1 now_us, ?2 due before, ?3 how many -> key, run, epoch, repair_count, status, type, shard
SELECT c.key, c.run, c.epoch, c.repair_count, c.status, i.type, i.shard FROM (
    SELECT t.key, t.run, t.epoch, t.repair_count, t.status, t.queue,
        row_number() OVER (PARTITION BY t.queue ORDER BY t.available_us, t.key) AS place
    FROM task t
    WHERE t.kind = 1 AND coalesce(t.repair_us, 0) <= ?1
        AND ((t.status = 1 AND t.available_us <= ?2) OR (t.status = 2 AND t.lease_until_us <= ?1))
) c JOIN run r ON r.key = c.run JOIN instance i ON i.key = r.instance
ORDER BY c.place, c.queue LIMIT ?3
