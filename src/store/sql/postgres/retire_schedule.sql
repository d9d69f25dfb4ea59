DELETE FROM schedule s USING {bare schedule int}
WHERE s.key = u.schedule AND s.status = 3
RETURNING u.row
