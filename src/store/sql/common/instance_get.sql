-- ?1 namespace key, ?2 id -> key, shard, type, business_key, current_run, run_count, created_us
SELECT key, shard, type, business_key, current_run, run_count, created_us
FROM instance WHERE namespace = ?1 AND id = ?2
