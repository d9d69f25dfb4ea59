-- I40. ?1 lowest, ?2 highest run key -> runs whose instance does not exist
SELECT r.key AS run, r.instance AS instance
FROM run r LEFT JOIN instance i ON i.key = r.instance
WHERE r.key BETWEEN ?1 AND ?2 AND i.key IS NULL
