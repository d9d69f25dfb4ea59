-- ?1 batch: items of a batch that retention removed. Flag: there was something.
DELETE FROM batch_item WHERE batch = ?1 AND NOT EXISTS (SELECT 1 FROM batch WHERE key = ?1)
