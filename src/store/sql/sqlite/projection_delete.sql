-- ?1 run: its fold is of no use. Flag: there was one.
DELETE FROM run_projection WHERE run = ?1
