-- I27. ?1 lowest, ?2 highest run key -> attempts that began after the activity's last deadline
SELECT a.run AS run, t.activity AS activity, t.number AS attempt
FROM attempt t JOIN activity a ON a.key = t.activity
WHERE a.run BETWEEN ?1 AND ?2 AND t.started_us > a.close_deadline_us
