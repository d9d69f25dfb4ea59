INSERT INTO instance (key, namespace, id, shard, type, business_key, current_run, run_count, created_us)
SELECT u.key, u.namespace, u.id, u.shard, u.type, u.business_key, u.current_run, u.run_count, u.created_us
FROM {bare key int, namespace int, id text, shard int, type text, business_key text, current_run int, run_count int, created_us int, schedule int, revision int}
JOIN schedule s ON s.key = u.schedule AND s.revision = u.revision
