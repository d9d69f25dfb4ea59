-- The kind is hidden from the planner, which would rather read all of a partial index for each page and sort it.
SELECT t.key, t.run, i.shard, t.priority
FROM (SELECT key, run, priority FROM task WHERE kind + 0 = 1 AND status = 1 AND key > ?1 ORDER BY key LIMIT ?2) t
    JOIN run r ON r.key = t.run
    JOIN instance i ON i.key = r.instance
ORDER BY t.key
