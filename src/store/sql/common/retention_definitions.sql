-- Definitions that no run has, other than the newest of their type, which the next start may take. ?1 after key,
-- ?2 how many -> key
SELECT d.key FROM definition d
WHERE d.key > ?1 AND d.key < (SELECT max(o.key) FROM definition o WHERE o.type = d.type)
    AND d.key NOT IN (SELECT r.definition FROM run r WHERE r.definition IS NOT NULL)
ORDER BY d.key LIMIT ?2
