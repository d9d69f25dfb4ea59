INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, attempt, repair_count, source_kind,
    source_key, created_us)
SELECT u.key, r.key, 1, 1, r.queue, 5, u.now_us, 0, 0, 0, u.source_kind, u.source_key, u.now_us
FROM {rows key int, run int, instance int, source_kind int, source_key int, now_us int}
    JOIN run r ON r.key = coalesce((SELECT l.parent_run FROM link l JOIN run p ON p.key = l.parent_run
        WHERE u.source_kind IN (1, 2) AND l.kind = 1 AND l.step IS NOT NULL
            AND l.child_run = CASE u.source_kind WHEN 1 THEN u.source_key ELSE
                (SELECT b.key FROM run n JOIN run b ON b.instance = n.instance AND b.number = n.number - 1 WHERE n.key = u.source_key) END
        ORDER BY p.number DESC LIMIT 1), u.run, (SELECT i.current_run FROM instance i WHERE i.key = u.instance))
        AND r.closed_us IS NULL
FOR SHARE OF r
ON CONFLICT (run, (CASE kind WHEN 1 THEN 0 ELSE key END)) DO NOTHING
