-- Rows that another node is claiming are passed over instead of waited for.
SELECT key, run, epoch FROM task
WHERE queue = ?1 AND kind = ?2 AND status = ?3 AND available_us <= ?4
ORDER BY priority, available_us, key LIMIT ?5 FOR UPDATE SKIP LOCKED
