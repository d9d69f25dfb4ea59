-- ?1 namespace, ?2 fingerprint -> the group of failures, as failure_groups has it
SELECT f.print, count(*), count(DISTINCT f.run), min(f.at_us), max(f.at_us), CAST(sum(f.handled) AS {int}), max(f.name), max(f.type),
    max(f.message)
FROM failure f WHERE f.namespace = ?1 AND f.print = ?2 GROUP BY f.print
