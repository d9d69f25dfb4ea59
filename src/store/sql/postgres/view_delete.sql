DELETE FROM saved_view t USING {bare key int, namespace int, owner text}
WHERE t.key = u.key AND t.namespace = u.namespace AND t.owner = u.owner
RETURNING u.row
