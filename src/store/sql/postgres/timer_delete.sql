DELETE FROM timer t USING {rows key int}
WHERE t.key = u.key
