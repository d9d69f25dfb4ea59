-- ?1 run: what stays of its commands belongs to the instance alone. Flag: there was something.
UPDATE command SET run = NULL WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE key = ?1)
