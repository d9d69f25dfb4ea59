-- I25. ?1 lowest, ?2 highest run key -> activities whose attempts are not numbered 1 to the newest
SELECT a.run AS run, a.key AS activity, a.attempt AS newest, count(t.number) AS attempts
FROM activity a LEFT JOIN attempt t ON t.activity = a.key
WHERE a.run BETWEEN ?1 AND ?2
GROUP BY a.run, a.key, a.attempt
HAVING count(t.number) <> a.attempt OR coalesce(max(t.number), 0) <> a.attempt OR coalesce(min(t.number), 1) <> 1
