-- Imported runs whose time is over. ?1 now_us, ?2 namespace (0: all), ?3 how many -> key
SELECT m.key FROM imported_run m JOIN namespace n ON n.key = m.namespace
WHERE m.imported_us <= ?1 - n.retention_days * 86400000000 AND n.retention_days > 0 AND (?2 = 0 OR n.key = ?2)
ORDER BY m.key LIMIT ?3
