DELETE FROM registration r USING {bare namespace int, worker text}
WHERE r.namespace = u.namespace AND r.worker = u.worker
RETURNING u.row
