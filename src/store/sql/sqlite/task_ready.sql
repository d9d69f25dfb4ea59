-- Candidates for a claim. ?1 queue, ?2 kind, ?3 status ready, ?4 now_us, ?5 how many -> key, run, epoch
SELECT key, run, epoch FROM task
WHERE queue = ?1 AND kind = ?2 AND status = ?3 AND available_us <= ?4
ORDER BY priority, available_us, key LIMIT ?5
