-- ?1 namespace, ?2 how many of the newest runs -> kind (1 open for the longest, 2 most failures, 3 most events; the last
-- two among the newest), run, when it began, instance id, type, value
SELECT * FROM (SELECT 1 AS kind, s.run AS run, s.sort_us AS at, i.id AS id, s.type AS type, s.sort_us AS value
    FROM run_summary s JOIN instance i ON i.key = s.instance
    WHERE s.namespace = ?1 AND s.ended = 0 ORDER BY s.sort_us, s.run LIMIT 1) a
UNION ALL
SELECT * FROM (SELECT 2, s.run, s.sort_us, i.id, s.type, s.exception_count
    FROM (SELECT run, sort_us, instance, type, exception_count FROM run_summary WHERE namespace = ?1
        ORDER BY sort_us DESC, run DESC LIMIT ?2) s JOIN instance i ON i.key = s.instance
    WHERE s.exception_count > 0 ORDER BY s.exception_count DESC, s.run LIMIT 1) b
UNION ALL
SELECT * FROM (SELECT 3, s.run, s.sort_us, i.id, s.type, s.event_count
    FROM (SELECT run, sort_us, instance, type, event_count FROM run_summary WHERE namespace = ?1
        ORDER BY sort_us DESC, run DESC LIMIT ?2) s JOIN instance i ON i.key = s.instance
    WHERE s.event_count > 0 ORDER BY s.event_count DESC, s.run LIMIT 1) c
