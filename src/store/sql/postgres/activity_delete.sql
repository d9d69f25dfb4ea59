DELETE FROM activity t USING {rows key int}
WHERE t.key = u.key
