-- Runs that want a turn. ?1 after task key, ?2 how many -> task key, run, its shard, priority
SELECT t.key, t.run, i.shard, t.priority FROM task t JOIN run r ON r.key = t.run
    JOIN instance i ON i.key = r.instance
WHERE t.kind = 1 AND t.status = 1 AND t.key > ?1 ORDER BY t.key LIMIT ?2
