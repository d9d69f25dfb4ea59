-- ?1 namespace, ?2 since, ?3 how many at most -> groups of failures, the newest first: fingerprint, failures, runs, first
-- and last seen, handled, and of one of them: name, type, message
SELECT f.print, count(*), count(DISTINCT f.run), min(f.at_us), max(f.at_us), CAST(sum(f.handled) AS {int}), max(f.name), max(f.type),
    max(f.message)
FROM failure f WHERE f.namespace = ?1 AND f.at_us >= ?2
GROUP BY f.print ORDER BY max(f.at_us) DESC, f.print LIMIT ?3
