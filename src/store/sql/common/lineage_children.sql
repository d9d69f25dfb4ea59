-- ?1 parent run, ?2 how many -> its children as they are now, newest first: child run, created_us, number, status,
-- closed_reason, closed_us, step, instance id, type
SELECT l.child_run, r.created_us, r.number, r.status, r.closed_reason, r.closed_us, l.step, i.id, i.type
FROM link l JOIN run r ON r.key = l.child_run JOIN instance i ON i.key = l.child_instance
WHERE l.parent_run = ?1 AND l.kind = 1 AND l.step IS NOT NULL
ORDER BY l.key DESC LIMIT ?2
