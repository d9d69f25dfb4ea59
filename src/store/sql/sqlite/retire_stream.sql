-- ?1 instance: the message streams of an instance that retention removed. Flag: there was something.
DELETE FROM message WHERE instance = ?1 AND NOT EXISTS (SELECT 1 FROM instance WHERE key = ?1)
