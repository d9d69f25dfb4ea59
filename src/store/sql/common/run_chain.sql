-- ?1 run, ?2 how many -> the runs of its instance, the newest first: key, created_us, number, status, closed_reason,
-- closed_us, name of the namespace
SELECT r.key, r.created_us, r.number, r.status, r.closed_reason, r.closed_us, n.name
FROM run o JOIN instance i ON i.key = o.instance JOIN run r ON r.instance = o.instance
    LEFT JOIN namespace n ON n.key = i.namespace
WHERE o.key = ?1 ORDER BY r.number DESC LIMIT ?2
