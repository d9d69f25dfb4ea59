DELETE FROM task t USING {rows key int}
WHERE t.key = u.key
