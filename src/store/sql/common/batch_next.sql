-- The batch that is worked on next. ?1 namespace, ?2 status running -> key, at, next_us, created_us, body
SELECT key, at, next_us, created_us, body FROM batch WHERE namespace = ?1 AND status = ?2 ORDER BY next_us, key LIMIT 1
