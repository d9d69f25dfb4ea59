DELETE FROM batch_item t USING {bare batch int}
WHERE t.batch = u.batch AND NOT EXISTS (SELECT 1 FROM batch b WHERE b.key = u.batch)
RETURNING u.row
