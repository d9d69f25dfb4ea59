-- The batch that is worked on next. ?1 status running -> key, at, next_us, created_us, body, namespace
SELECT key, at, next_us, created_us, body, namespace FROM batch WHERE status = ?1 ORDER BY next_us, key LIMIT 1
