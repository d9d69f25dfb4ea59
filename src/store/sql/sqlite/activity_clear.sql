-- ?1 run: it closed
DELETE FROM activity WHERE run = ?1
