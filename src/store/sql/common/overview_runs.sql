-- ?1 namespace, ?2 how many of a kind at most -> status, how many runs have it
SELECT status, count(*) FROM (
    SELECT * FROM (SELECT s.status AS status FROM run_summary s WHERE s.namespace = ?1 AND s.ended = 0 LIMIT ?2) a
    UNION ALL SELECT * FROM (SELECT s.ended FROM run_summary s WHERE s.namespace = ?1 AND s.ended = 4 LIMIT ?2) b
    UNION ALL SELECT * FROM (SELECT s.ended FROM run_summary s WHERE s.namespace = ?1 AND s.ended = 5 LIMIT ?2) c
    UNION ALL SELECT * FROM (SELECT s.ended FROM run_summary s WHERE s.namespace = ?1 AND s.ended = 6 LIMIT ?2) d
    UNION ALL SELECT * FROM (SELECT s.ended FROM run_summary s WHERE s.namespace = ?1 AND s.ended = 7 LIMIT ?2) e) o
GROUP BY status
