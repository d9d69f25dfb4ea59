-- ?1 namespace, ?2 now, ?3 how many rows at most -> workflow tasks and activities that are open: ready, put off, under way,
-- since when the oldest is ready, how many there are
SELECT sum(CASE WHEN w.status = 1 AND w.at <= ?2 THEN 1 ELSE 0 END), sum(CASE WHEN w.status = 1 AND w.at > ?2 THEN 1 ELSE 0 END),
    sum(CASE WHEN w.status = 2 THEN 1 ELSE 0 END), min(CASE WHEN w.status = 1 AND w.at <= ?2 THEN w.at END), count(*)
FROM (SELECT * FROM (SELECT t.run AS run, t.status AS status, t.available_us AS at FROM task t
        WHERE t.kind = 1 AND t.status IN (1, 2) LIMIT ?3) t
    UNION ALL SELECT * FROM (SELECT a.run, a.status, coalesce(a.available_us, a.scheduled_us) FROM activity a
        WHERE a.closed_us IS NULL LIMIT ?3) a) w
JOIN run_summary s ON s.run = w.run WHERE s.namespace = ?1
