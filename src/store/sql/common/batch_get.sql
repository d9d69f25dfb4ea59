-- ?1 key, ?2 namespace -> status, at, total, created_us, closed_us, body
SELECT status, at, total, created_us, closed_us, body FROM batch WHERE key = ?1 AND namespace = ?2
