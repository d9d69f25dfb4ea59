-- A fact for a run (?2) or, when that is null, for the newest run of an instance (?3); nothing when it is closed.
-- That a child closed (kind 1), or goes on as another run (kind 2), is for the run that waits for it now: a reset may
-- have taken the place of the other.
-- ?1 key, ?4 kind, ?5 source_run, ?6 created_us, ?7 body
INSERT INTO inbox (key, run, kind, source_run, created_us, body)
SELECT ?1, r.key, ?4, ?5, ?6, ?7 FROM run r
WHERE r.key = coalesce((SELECT l.parent_run FROM link l JOIN run p ON p.key = l.parent_run
        WHERE ?4 IN (1, 2) AND l.kind = 1 AND l.step IS NOT NULL
            AND l.child_run = CASE ?4 WHEN 1 THEN ?5 ELSE
                (SELECT b.key FROM run n JOIN run b ON b.instance = n.instance AND b.number = n.number - 1 WHERE n.key = ?5) END
        ORDER BY p.number DESC LIMIT 1), ?2, (SELECT current_run FROM instance WHERE key = ?3)) AND r.closed_us IS NULL
