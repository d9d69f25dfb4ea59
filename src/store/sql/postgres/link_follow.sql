INSERT INTO link (key, kind, parent_run, step, child_instance, child_run, policy, created_us, call, call_us, attempt,
    max_attempts)
SELECT u.key, u.kind, coalesce((SELECT l.parent_run FROM link l JOIN run p ON p.key = l.parent_run
        WHERE l.child_run = u.before AND l.kind = u.kind AND l.step IS NOT NULL ORDER BY p.number DESC LIMIT 1), u.parent_run),
    u.step, u.child_instance, u.child_run, u.policy, u.created_us, u.call, u.call_us, u.attempt, u.max_attempts
FROM {rows key int, kind int, parent_run int, step int, child_instance int, child_run int, policy int, created_us int,
    call int, call_us int, attempt int, max_attempts int, before int}
