-- I40. ?1 lowest, ?2 highest run key -> imported runs whose namespace does not exist
SELECT i.key AS imported_run, i.namespace AS namespace
FROM imported_run i LEFT JOIN namespace n ON n.key = i.namespace
WHERE n.key IS NULL AND i.key BETWEEN ?1 AND ?2
