-- ?1 namespace, ?2 how many of the newest runs, ?3 types at most -> of those runs: type, open, completed, failed, all; what
-- there is most of first
SELECT type, sum(CASE WHEN ended = 0 THEN 1 ELSE 0 END), sum(CASE WHEN ended = 6 THEN 1 ELSE 0 END),
    sum(CASE WHEN ended = 7 THEN 1 ELSE 0 END), count(*)
FROM (SELECT s.type AS type, s.ended AS ended FROM run_summary s WHERE s.namespace = ?1
    ORDER BY s.sort_us DESC, s.run DESC LIMIT ?2) n
GROUP BY type ORDER BY 5 DESC, 1 LIMIT ?3
