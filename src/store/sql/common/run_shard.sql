-- ?1 open run, ?2 namespace -> shard
SELECT i.shard
FROM run r JOIN instance i ON i.key = r.instance
WHERE r.key = ?1 AND i.namespace = ?2 AND r.closed_us IS NULL
