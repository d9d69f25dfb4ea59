-- The child calls of a run by its links, the newest of a call last. ?1 parent run -> step, policy, call, call_us,
-- child_instance, child_run, closed_us of the child, attempt, max_attempts
SELECT l.step, l.policy, l.call, l.call_us, l.child_instance, l.child_run, r.closed_us, l.attempt, l.max_attempts
FROM link l JOIN run r ON r.key = l.child_run
WHERE l.parent_run = ?1 AND l.kind = 1 AND l.step IS NOT NULL
ORDER BY r.number, l.key
