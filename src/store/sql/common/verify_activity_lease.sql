-- I24. ?1 lowest, ?2 highest run key, ?3 running -> activities whose attempt is a worker's without a lease, or leased
-- without a worker
SELECT run, key AS activity, status, attempt FROM activity
WHERE run BETWEEN ?1 AND ?2
    AND ((status = ?3 AND ((owner IS NULL AND lease_until_us IS NOT NULL) OR (owner IS NOT NULL AND lease_until_us IS NULL)))
        OR (status <> ?3 AND lease_until_us IS NOT NULL))
