-- ?1 parent run, ?2 child run -> step, policy, call, call_us, attempt, max_attempts, key, instance id, type, number,
-- created_us, status, closed_reason, closed_us of the child
SELECT l.step, l.policy, l.call, l.call_us, l.attempt, l.max_attempts, l.key, i.id, i.type, r.number, r.created_us,
    r.status, r.closed_reason, r.closed_us
FROM link l JOIN run r ON r.key = l.child_run JOIN instance i ON i.key = r.instance
WHERE l.parent_run = ?1 AND l.child_run = ?2 AND l.kind = 1
