-- Open activities. ?1 after activity key, ?2 how many -> key, run, type, status, available_us, deadline_us, the run's shard
SELECT a.key, a.run, a.type, a.status, a.available_us, a.deadline_us, i.shard
FROM activity a JOIN run r ON r.key = a.run
    JOIN instance i ON i.key = r.instance
WHERE a.closed_us IS NULL AND a.key > ?1 ORDER BY a.key LIMIT ?2
