-- I40. ?1 lowest, ?2 highest run key -> instances whose namespace does not exist
SELECT i.key AS instance, i.namespace AS namespace
FROM instance i LEFT JOIN namespace n ON n.key = i.namespace
WHERE n.key IS NULL AND (?1 < ?2 OR i.key = (SELECT s.instance FROM run s WHERE s.key = ?1))
