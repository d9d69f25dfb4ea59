-- Batches, newest first. ?1 namespace, ?2 before key, ?3 at most -> key, status, at, total, created_us, closed_us, body
SELECT key, status, at, total, created_us, closed_us, body FROM batch WHERE key < ?2 AND namespace = ?1
ORDER BY key DESC LIMIT ?3
