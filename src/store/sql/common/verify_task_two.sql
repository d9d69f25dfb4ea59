-- I23. ?1 lowest, ?2 highest run key, ?3 workflow task, ?4 ready, ?5 leased -> runs with two open workflow tasks
SELECT run, count(*) AS tasks FROM task
WHERE run BETWEEN ?1 AND ?2 AND kind = ?3 AND status IN (?4, ?5)
GROUP BY run HAVING count(*) > 1
