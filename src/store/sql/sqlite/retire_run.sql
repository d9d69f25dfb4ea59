-- ?1 run: one that is closed, for good. Flag: it was there.
DELETE FROM run WHERE key = ?1 AND closed_us IS NOT NULL
