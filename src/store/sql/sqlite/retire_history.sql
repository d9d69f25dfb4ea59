-- ?1 run: history of a run that retention removed. Flag: there was something.
DELETE FROM history WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE key = ?1)
