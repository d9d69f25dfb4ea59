DELETE FROM definition d USING {bare definition int}
WHERE d.key = u.definition AND NOT EXISTS (SELECT 1 FROM run r WHERE r.definition = d.key)
RETURNING u.row
