-- ?1 instance: the correlation key of an instance that retention removed. Flag: there was something.
DELETE FROM correlation WHERE instance = ?1 AND NOT EXISTS (SELECT 1 FROM instance WHERE key = ?1)
