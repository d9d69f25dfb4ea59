-- The target is locked until the commit, so that another node cannot close it with the fact behind its back; one that was
-- closed meanwhile gets none.
INSERT INTO inbox (key, run, kind, source_run, created_us, body)
SELECT u.key, r.key, u.kind, u.source_run, u.created_us, u.body
FROM {rows key int, run int, instance int, kind int, source_run int, created_us int, body blob}
    JOIN run r ON r.key = coalesce((SELECT l.parent_run FROM link l JOIN run p ON p.key = l.parent_run
        WHERE u.kind IN (1, 2) AND l.kind = 1 AND l.step IS NOT NULL
            AND l.child_run = CASE u.kind WHEN 1 THEN u.source_run ELSE
                (SELECT b.key FROM run n JOIN run b ON b.instance = n.instance AND b.number = n.number - 1 WHERE n.key = u.source_run) END
        ORDER BY p.number DESC LIMIT 1), u.run, (SELECT i.current_run FROM instance i WHERE i.key = u.instance))
        AND r.closed_us IS NULL
FOR SHARE OF r
