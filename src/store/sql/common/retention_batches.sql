-- Batches whose time is over. ?1 now_us, ?2 namespace (0: all), ?3 how many -> key
SELECT b.key FROM batch b JOIN namespace n ON n.key = b.namespace
WHERE b.closed_us <= ?1 - n.retention_days * 86400000000 AND n.retention_days > 0 AND (?2 = 0 OR n.key = ?2)
ORDER BY b.key LIMIT ?3
