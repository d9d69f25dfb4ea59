DELETE FROM imported_run m USING {bare key int}
WHERE m.key = u.key
RETURNING u.row
