-- I40. ?1 lowest, ?2 highest run key -> links whose namespace does not exist
SELECT a.key AS answer_link, a.namespace AS namespace
FROM answer_link a LEFT JOIN namespace n ON n.key = a.namespace
WHERE n.key IS NULL AND a.key BETWEEN ?1 AND ?2
