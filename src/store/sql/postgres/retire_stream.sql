DELETE FROM message t USING {bare instance int}
WHERE t.instance = u.instance AND NOT EXISTS (SELECT 1 FROM instance i WHERE i.key = u.instance)
RETURNING u.row
