-- Closed runs whose time is over, oldest first. ?1 now_us, ?2 and ?3 after this closed_us and key, ?4 namespace (0: all),
-- ?5 how many -> key, instance, number, closed_us, shard
SELECT r.key, r.instance, r.number, r.closed_us, i.shard
FROM run r JOIN instance i ON i.key = r.instance JOIN namespace n ON n.key = i.namespace
WHERE r.closed_us >= ?2 AND (r.closed_us > ?2 OR r.key > ?3)
    AND r.closed_us <= ?1 - (SELECT min(m.retention_days) FROM namespace m WHERE m.retention_days > 0) * 86400000000
    AND n.retention_days > 0 AND r.closed_us <= ?1 - n.retention_days * 86400000000 AND (?4 = 0 OR n.key = ?4)
ORDER BY r.closed_us, r.key LIMIT ?5
