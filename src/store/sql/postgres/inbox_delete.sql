DELETE FROM inbox t USING {rows key int}
WHERE t.key = u.key
