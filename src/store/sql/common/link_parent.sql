-- ?1 child run -> parent run that waits for it, the step, and what the call says: policy, call, call_us, attempt,
-- max_attempts, created_us and instance id of the parent. Keys of other nodes are in no order: the newest run counts.
SELECT l.parent_run, l.step, l.policy, l.call, l.call_us, l.attempt, l.max_attempts, p.created_us, i.id
FROM link l JOIN run p ON p.key = l.parent_run JOIN instance i ON i.key = p.instance
WHERE l.child_run = ?1 AND l.kind = 1 AND l.step IS NOT NULL
ORDER BY p.number DESC LIMIT 1
