-- I24. ?1 lowest, ?2 highest run key, ?3 leased -> tasks whose status and lease contradict each other
SELECT run, key AS task, status, epoch FROM task
WHERE run BETWEEN ?1 AND ?2
    AND ((status = ?3 AND (token IS NULL OR owner IS NULL OR lease_until_us IS NULL OR epoch < 1))
        OR (status <> ?3 AND (token IS NOT NULL OR owner IS NOT NULL OR lease_until_us IS NOT NULL)))
