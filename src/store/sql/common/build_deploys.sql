-- What became of builds from ?2 on and before ?3, the newest first. ?1 namespace, ?4 how many -> when, build (empty: none),
-- queue, 1: it was promoted, 0: its first worker registered
SELECT m.at_us, m.build_id, m.queue, m.promoted FROM (
    SELECT first_us AS at_us, build_id, queue, CAST(0 AS {int}) AS promoted FROM build_seen
    WHERE namespace = ?1 AND first_us >= ?2 AND first_us < ?3
    UNION ALL
    SELECT promoted_us, build_id, queue, CAST(1 AS {int}) FROM build
    WHERE namespace = ?1 AND promoted_us >= ?2 AND promoted_us < ?3) AS m
ORDER BY m.at_us DESC, m.build_id, m.queue LIMIT ?4
