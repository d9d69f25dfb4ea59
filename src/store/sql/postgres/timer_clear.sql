DELETE FROM timer t USING {rows run int}
WHERE t.run = u.run
