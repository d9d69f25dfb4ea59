-- ?1 namespace, ?2 key, ?3 limit -> those before the key, the newest first: key, run_id, instance_id, type, events,
-- complete, exported_us, imported_us, size, digest
SELECT key, run_id, instance_id, type, events, complete, exported_us, imported_us, size, digest FROM imported_run
WHERE namespace = ?1 AND key < ?2 ORDER BY key DESC LIMIT ?3
