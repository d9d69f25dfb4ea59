INSERT INTO link (key, kind, parent_run, step, child_instance, child_run, policy, created_us, call, call_us, attempt,
    max_attempts)
SELECT u.key, u.kind, u.parent_run, u.step, u.child_instance, n.child_run, u.policy, u.created_us, u.call, u.call_us,
    n.attempt, u.max_attempts
FROM {rows key int, kind int, parent_run int, step int, child_instance int, child_run int, policy int, created_us int,
    call int, call_us int, attempt int, max_attempts int, origin int}
    CROSS JOIN LATERAL (SELECT l.child_run, l.attempt FROM link l JOIN run r ON r.key = l.child_run
        WHERE l.parent_run = u.origin AND l.kind = u.kind AND l.step = u.step ORDER BY r.number DESC LIMIT 1) AS n
