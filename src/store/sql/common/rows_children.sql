-- ?1 parent run -> its children, newest link of a step last: step, child run, created_us, closed_us, instance id, type
SELECT l.step, l.child_run, r.created_us, r.closed_us, i.id, i.type
FROM link l JOIN run r ON r.key = l.child_run JOIN instance i ON i.key = l.child_instance
WHERE l.parent_run = ?1 AND l.kind = 1 AND l.step IS NOT NULL
ORDER BY r.number, l.key
