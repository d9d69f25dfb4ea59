DELETE FROM timer t USING {rows run int, step int}
WHERE t.run = u.run AND t.step = u.step
