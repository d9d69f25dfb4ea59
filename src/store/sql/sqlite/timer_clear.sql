-- ?1 run: it closed
DELETE FROM timer WHERE run = ?1
