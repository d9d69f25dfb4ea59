-- ?1 batch: that is over. Flag: it was there.
DELETE FROM batch WHERE key = ?1 AND closed_us IS NOT NULL
