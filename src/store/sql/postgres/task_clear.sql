DELETE FROM task t USING {rows run int}
WHERE t.run = u.run
