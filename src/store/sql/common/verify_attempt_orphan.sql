-- I25. ?1 lowest, ?2 highest run key -> attempts of no activity
SELECT t.activity AS activity, t.number AS attempt
FROM attempt t LEFT JOIN activity a ON a.key = t.activity
WHERE a.key IS NULL AND ?1 < ?2
