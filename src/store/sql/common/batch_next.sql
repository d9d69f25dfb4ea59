-- The batch that is worked on next, with the time from which this node may: when its rate allows, or when the lease of
-- another node is over. ?1 status running, ?2 owner, ?3 now_us -> key, at, due_us, created_us, body, namespace, epoch
SELECT key, at, CASE WHEN owner IS NULL OR owner = ?2 OR lease_until_us <= ?3 THEN next_us ELSE lease_until_us END AS due_us,
    created_us, body, namespace, epoch
FROM batch WHERE status = ?1 ORDER BY due_us, key LIMIT 1
