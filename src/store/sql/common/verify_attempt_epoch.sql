-- I25. ?1 lowest, ?2 highest run key, ?3 running -> attempts that no claim of their task stands behind
SELECT a.run AS run, t.activity AS activity, t.number AS attempt, t.epoch AS epoch, k.epoch AS claim
FROM attempt t JOIN activity a ON a.key = t.activity JOIN task k ON k.key = t.task
    LEFT JOIN attempt p ON p.activity = t.activity AND p.number = t.number - 1 AND p.task = t.task
WHERE a.run BETWEEN ?1 AND ?2
    AND (t.epoch > k.epoch OR (t.status = ?3 AND t.epoch <> k.epoch) OR p.epoch >= t.epoch)
