-- I35. ?1 lowest, ?2 highest run key -> runs whose summary is missing or says something else
SELECT r.key AS run, r.status AS status, s.status AS shown
FROM run r LEFT JOIN instance i ON i.key = r.instance LEFT JOIN run_summary s ON s.run = r.key
WHERE r.key BETWEEN ?1 AND ?2
    AND (s.run IS NULL OR s.status <> r.status OR s.instance <> r.instance OR s.namespace <> i.namespace)
