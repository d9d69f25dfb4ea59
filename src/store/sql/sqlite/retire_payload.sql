-- ?1 run: payloads of a run that retention removed. Flag: there was something.
DELETE FROM payload WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE key = ?1)
