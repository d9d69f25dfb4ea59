DELETE FROM imported_run t USING {bare namespace int, run_id text}
WHERE t.namespace = u.namespace AND t.run_id = u.run_id
RETURNING u.row
