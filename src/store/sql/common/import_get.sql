-- ?1 namespace, ?2 run id or instance id -> the newest such run: key, run_id, size, digest, compression, body
SELECT key, run_id, size, digest, compression, body FROM imported_run
WHERE namespace = ?1 AND (run_id = ?2 OR instance_id = ?2) ORDER BY key DESC LIMIT 1
