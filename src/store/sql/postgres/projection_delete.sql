DELETE FROM run_projection t USING {bare run int}
WHERE t.run = u.run
RETURNING u.row
