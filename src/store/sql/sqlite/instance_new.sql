-- A new instance with its first run; nothing when the id is taken. ?10 epoch of the shard whose owner alone may make it
-- (PostgreSQL only). Flag: it is new.
INSERT INTO instance (key, namespace, id, shard, type, business_key, current_run, run_count, created_us)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE ?10 IS ?10 ON CONFLICT (namespace, id) DO NOTHING
