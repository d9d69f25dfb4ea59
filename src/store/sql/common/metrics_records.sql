-- ?1 namespace, ?2 since -> record holders among runs that began since: kind (1 longest wait, 2 longest life, 3 most
-- failures), run, created_us, instance id, type, value
SELECT * FROM (SELECT 1 AS kind, r.key AS run, r.created_us AS at, i.id AS id, s.type AS type, r.last_us AS value
    FROM run_summary s JOIN run r ON r.key = s.run JOIN instance i ON i.key = s.instance
    WHERE s.namespace = ?1 AND s.ended = 0 AND r.status = 3 AND s.sort_us >= ?2 ORDER BY r.last_us, r.key LIMIT 1) w
UNION ALL
SELECT * FROM (SELECT 2, s.run, s.sort_us, i.id, s.type, s.closed_us - s.sort_us
    FROM run_summary s JOIN instance i ON i.key = s.instance
    WHERE s.namespace = ?1 AND s.closed_us IS NOT NULL AND s.sort_us >= ?2
    ORDER BY s.closed_us - s.sort_us DESC, s.run LIMIT 1) d
UNION ALL
SELECT * FROM (SELECT 3, s.run, s.sort_us, i.id, s.type, s.exception_count
    FROM run_summary s JOIN instance i ON i.key = s.instance
    WHERE s.namespace = ?1 AND s.exception_count > 0 AND s.sort_us >= ?2
    ORDER BY s.exception_count DESC, s.run LIMIT 1) e
