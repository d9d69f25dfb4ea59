-- ?1 key, ?2 namespace, ?3 run_id, ?4 instance_id, ?5 type, ?6 events, ?7 complete, ?8 exported_us, ?9 imported_us,
-- ?10 size, ?11 digest, ?12 compression, ?13 body. Flag: the run was not there yet.
INSERT INTO imported_run (key, namespace, run_id, instance_id, type, events, complete, exported_us, imported_us, size,
    digest, compression, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
ON CONFLICT (namespace, run_id) DO NOTHING
