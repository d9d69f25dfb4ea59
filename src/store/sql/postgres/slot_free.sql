DELETE FROM slot s USING {bare key text, run int, owner text}
WHERE s.key = u.key AND s.run = u.run AND s.owner = u.owner
RETURNING u.row
