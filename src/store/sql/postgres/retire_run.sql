DELETE FROM run r USING {bare run int}
WHERE r.key = u.run AND r.closed_us IS NOT NULL
RETURNING u.row
