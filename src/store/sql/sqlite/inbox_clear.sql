-- ?1 run: it closed
DELETE FROM inbox WHERE run = ?1
