-- ?1 run: the summary of a run that is gone. Flag: it is gone.
DELETE FROM run_summary WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE key = ?1)
