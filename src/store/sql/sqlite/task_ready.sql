-- Candidates for a claim; those of paused runs rest. ?1 queue, ?2 kind, ?3 status ready, ?4 now_us, ?5 how many -> key, run, epoch
SELECT key, run, epoch FROM task t
WHERE queue = ?1 AND kind = ?2 AND status = ?3 AND available_us <= ?4
    AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = t.run AND r.paused_us IS NOT NULL)
ORDER BY priority, available_us, key LIMIT ?5
