INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, attempt, repair_count, source_kind,
    source_key, created_us)
SELECT u.key, r.key, 1, 1, r.queue, 5, u.now_us, 0, 0, 0, u.source_kind, u.source_key, u.now_us
FROM {rows key int, run int, instance int, source_kind int, source_key int, now_us int}
    JOIN run r ON r.key = coalesce((SELECT l.parent_run FROM link l WHERE u.source_kind = 1 AND l.child_run = u.source_key AND l.kind = 1
        AND l.step IS NOT NULL ORDER BY l.key DESC LIMIT 1), u.run, (SELECT i.current_run FROM instance i WHERE i.key = u.instance))
        AND r.closed_us IS NULL
FOR SHARE OF r
ON CONFLICT (run) WHERE kind = 1 DO NOTHING
