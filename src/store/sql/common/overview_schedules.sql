-- ?1 namespace, ?2 overdue before, ?3 how many at most -> active, paused, overdue
SELECT sum(CASE WHEN status = 1 THEN 1 ELSE 0 END), sum(CASE WHEN status = 2 THEN 1 ELSE 0 END),
    sum(CASE WHEN status = 1 AND next_us < ?2 THEN 1 ELSE 0 END)
FROM (SELECT status, next_us FROM schedule WHERE namespace = ?1 AND status <> 3 LIMIT ?3) n
