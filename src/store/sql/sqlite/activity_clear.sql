-- ?1 run: it closed
-- only sqlite: work_clear does it along on PostgreSQL
DELETE FROM activity WHERE run = ?1
