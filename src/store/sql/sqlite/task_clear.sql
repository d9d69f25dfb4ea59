-- ?1 run: it closed
DELETE FROM task WHERE run = ?1
