-- I24. ?1 lowest, ?2 highest run key, ?3 running -> attempts whose status and lease contradict each other
SELECT a.run AS run, t.activity AS activity, t.number AS attempt
FROM attempt t JOIN activity a ON a.key = t.activity
WHERE a.run BETWEEN ?1 AND ?2
    AND ((t.status = ?3 AND (t.owner IS NULL OR t.lease_until_us IS NULL OR t.closed_us IS NOT NULL))
        OR (t.status <> ?3 AND (t.closed_us IS NULL OR t.lease_until_us IS NOT NULL)))
