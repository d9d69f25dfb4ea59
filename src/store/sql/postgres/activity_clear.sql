DELETE FROM activity t USING {rows run int}
WHERE t.run = u.run
