-- A child is awaited by the run that takes the place of another, in whatever run it is now: it may have gone on meanwhile.
-- ?1 to ?12 as in link_new, ?13 the run whose place is taken
INSERT INTO link (key, kind, parent_run, step, child_instance, child_run, policy, created_us, call, call_us, attempt,
    max_attempts)
SELECT ?1, ?2, ?3, ?4, ?5, l.child_run, ?7, ?8, ?9, ?10, l.attempt, ?12 FROM link l JOIN run r ON r.key = l.child_run
WHERE l.parent_run = ?13 AND l.kind = ?2 AND l.step = ?4 AND ?6 IS ?6 AND ?11 IS ?11 ORDER BY r.number DESC LIMIT 1
