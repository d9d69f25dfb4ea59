DELETE FROM batch b USING {bare batch int}
WHERE b.key = u.batch AND b.closed_us IS NOT NULL
RETURNING u.row
