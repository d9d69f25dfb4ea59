-- Rows that another node is claiming are passed over instead of waited for.
SELECT key, run, epoch FROM task t
WHERE queue = ?1 AND kind = ?2 AND status = ?3 AND available_us <= ?4
    AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = t.run AND r.paused_us IS NOT NULL)
ORDER BY priority, available_us, key LIMIT ?5 FOR UPDATE OF t SKIP LOCKED
