DELETE FROM inbox t USING {rows run int}
WHERE t.run = u.run
