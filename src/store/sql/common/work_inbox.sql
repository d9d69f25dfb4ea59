-- Runs with facts from other runs to fold in. ?1 after key, ?2 how many -> key, run, its shard
SELECT b.key, b.run, i.shard FROM inbox b JOIN run r ON r.key = b.run
    JOIN instance i ON i.key = r.instance
WHERE b.key > ?1 ORDER BY b.key LIMIT ?2
