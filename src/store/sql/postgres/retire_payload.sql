DELETE FROM payload t USING {bare run int}
WHERE t.run = u.run AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = u.run)
RETURNING u.row
