DELETE FROM slot s USING {bare key text, run int, owner text, namespace int}
WHERE s.namespace = u.namespace AND s.key = u.key AND s.run = u.run AND s.owner = u.owner
RETURNING u.row
