-- ?1 seen at or after -> namespace's name, worker, body, seen_us
SELECT n.name, r.worker, r.body, r.seen_us
FROM registration r JOIN namespace n ON n.key = r.namespace
WHERE r.seen_us >= ?1 ORDER BY n.name, r.worker
