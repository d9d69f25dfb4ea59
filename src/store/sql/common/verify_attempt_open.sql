-- I26. ?1 lowest, ?2 highest run key, ?3 attempt running, ?4 activity running
-- -> attempts that run though they are not the newest, and activities that run without their newest attempt
SELECT a.run AS run, a.key AS activity, t.number AS attempt
FROM attempt t JOIN activity a ON a.key = t.activity
WHERE a.run BETWEEN ?1 AND ?2 AND t.status = ?3 AND (t.number <> a.attempt OR a.status <> ?4)
UNION ALL
SELECT a.run, a.key, a.attempt
FROM activity a LEFT JOIN attempt t ON t.activity = a.key AND t.number = a.attempt AND t.status = ?3
WHERE a.run BETWEEN ?1 AND ?2 AND a.status = ?4 AND t.activity IS NULL
    AND EXISTS (SELECT 1 FROM attempt o WHERE o.activity = a.key)
