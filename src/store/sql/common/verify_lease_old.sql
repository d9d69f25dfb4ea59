-- I28. ?1 lowest, ?2 highest run key, ?3 leased, ?4 microseconds -> leases that were over so long before the newest
-- event of the store that a sweep should have ended them
SELECT run, key AS task, lease_until_us FROM task
WHERE run BETWEEN ?1 AND ?2 AND status = ?3 AND lease_until_us < (SELECT max(n.last_us) FROM run n) - ?4
