-- Another run has a fact to fold in: it wants a turn, unless that is known already or it is closed.
-- ?1 key, ?2 run, or null and ?3 its instance, ?4 source_kind, ?5 source_key, ?6 now_us
INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, attempt, repair_count, source_kind,
    source_key, created_us)
SELECT ?1, r.key, 1, 1, r.queue, 5, ?6, 0, 0, 0, ?4, ?5, ?6 FROM run r
WHERE r.key = coalesce((SELECT l.parent_run FROM link l JOIN run p ON p.key = l.parent_run
        WHERE ?4 IN (1, 2) AND l.kind = 1 AND l.step IS NOT NULL
            AND l.child_run = CASE ?4 WHEN 1 THEN ?5 ELSE
                (SELECT b.key FROM run n JOIN run b ON b.instance = n.instance AND b.number = n.number - 1 WHERE n.key = ?5) END
        ORDER BY p.number DESC LIMIT 1), ?2, (SELECT current_run FROM instance WHERE key = ?3)) AND r.closed_us IS NULL
ON CONFLICT (run, (CASE kind WHEN 1 THEN 0 ELSE key END)) DO NOTHING
