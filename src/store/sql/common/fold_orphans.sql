-- ?1 run key, ?2 how many at most -> runs after that key that are gone and have left something in a projection
SELECT DISTINCT o.run FROM (
    SELECT run FROM run_summary WHERE run > ?1
    UNION ALL SELECT run FROM run_projection WHERE run > ?1
    UNION ALL SELECT run FROM run_label WHERE run > ?1
    UNION ALL SELECT run FROM search_attribute WHERE run > ?1
    UNION ALL SELECT run FROM failure WHERE run > ?1) o
WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.key = o.run)
ORDER BY o.run LIMIT ?2
