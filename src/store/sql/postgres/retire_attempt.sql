DELETE FROM attempt t USING {bare run int} JOIN activity a ON a.run = u.run
WHERE t.activity = a.key AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = u.run)
RETURNING u.row
