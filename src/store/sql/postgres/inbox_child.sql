INSERT INTO inbox (key, run, kind, source_run, created_us, body)
SELECT u.key, u.run, 1, r.key, u.created_us, NULL
FROM {rows key int, run int, parent int, step int, created_us int}
    JOIN run r ON r.key = (SELECT l.child_run FROM link l JOIN run c ON c.key = l.child_run
        WHERE l.parent_run = u.parent AND l.kind = 1 AND l.step = u.step ORDER BY c.number DESC LIMIT 1)
        AND r.closed_us IS NOT NULL AND r.closed_reason <> 5
