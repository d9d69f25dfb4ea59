-- The next timers to fire. ?1 after due_us, ?2 and key, ?3 how many -> key, run, step, kind, due_us, the run's shard
SELECT t.key, t.run, t.step, t.kind, t.due_us, i.shard FROM timer t JOIN run r ON r.key = t.run
    JOIN instance i ON i.key = r.instance
WHERE t.closed_us IS NULL AND (t.due_us, t.key) > (?1, ?2)
ORDER BY t.due_us, t.key LIMIT ?3
