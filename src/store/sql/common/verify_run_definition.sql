-- I40. ?1 lowest, ?2 highest run key -> runs whose definition does not exist
SELECT r.key AS run, r.definition AS definition
FROM run r LEFT JOIN definition d ON d.key = r.definition
WHERE r.key BETWEEN ?1 AND ?2 AND r.definition IS NOT NULL AND d.key IS NULL
