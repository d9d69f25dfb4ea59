-- An instance without a run; nothing when the id is taken. Flag: it is new.
INSERT INTO instance (key, namespace, id, shard, type, business_key, current_run, run_count, created_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (namespace, id) DO NOTHING
