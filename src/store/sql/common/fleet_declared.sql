-- Workers that are there and what they registered. ?1 now_us, ?2 scope, ?3 queue or '' for any, ?4 namespace -> name,
-- whether it registered anywhere, what it registered in the namespace
SELECT w.name, r.worker IS NOT NULL, CASE WHEN r.namespace = ?4 THEN r.body END
FROM worker w LEFT JOIN registration r ON r.worker = w.name
WHERE w.expires_us > ?1 AND w.scope = ?2 AND (?3 = '' OR w.queue IN (?3, '*')) ORDER BY w.name
