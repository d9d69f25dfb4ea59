-- ?1 parent run -> its open children: step, policy, call, call_us, child_instance, child_run, created_us, instance id
SELECT l.step, l.policy, l.call, l.call_us, l.child_instance, l.child_run, r.created_us, i.id
FROM link l JOIN run r ON r.key = l.child_run JOIN instance i ON i.key = l.child_instance
WHERE l.parent_run = ?1 AND l.kind = 1 AND coalesce(r.closed_us, 0) = 0
ORDER BY l.key
