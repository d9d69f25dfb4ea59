-- The next run of a child is awaited by whoever awaits the run before it now: a reset may have taken the place of the one
-- that was known. ?1 to ?12 as in link_new, ?13 the run before
INSERT INTO link (key, kind, parent_run, step, child_instance, child_run, policy, created_us, call, call_us, attempt,
    max_attempts)
SELECT ?1, ?2, coalesce((SELECT l.parent_run FROM link l JOIN run p ON p.key = l.parent_run
        WHERE l.child_run = ?13 AND l.kind = ?2 AND l.step IS NOT NULL ORDER BY p.number DESC LIMIT 1), ?3),
    ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
