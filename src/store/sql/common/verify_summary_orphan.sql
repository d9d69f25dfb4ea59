-- I35. ?1 lowest, ?2 highest run key -> summaries of no run
SELECT s.run AS run FROM run_summary s LEFT JOIN run r ON r.key = s.run
WHERE s.run BETWEEN ?1 AND ?2 AND r.key IS NULL
