-- The newest definition of each type. ?1 how many types -> type, fingerprint, body
SELECT d.type, d.fingerprint, d.body
FROM (SELECT max(key) AS key FROM definition GROUP BY type ORDER BY type LIMIT ?1) AS newest
    JOIN definition d ON d.key = newest.key
ORDER BY d.type
