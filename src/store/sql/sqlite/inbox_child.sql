-- A run that takes a child over hears at once of its end if it has ended by now; one that went on as a new run has not.
-- ?1 key, ?2 run, ?3 the run whose place it takes, ?4 step of the call, ?5 created_us
INSERT INTO inbox (key, run, kind, source_run, created_us, body)
SELECT ?1, ?2, 1, r.key, ?5, NULL FROM run r
WHERE r.key = (SELECT l.child_run FROM link l JOIN run c ON c.key = l.child_run
        WHERE l.parent_run = ?3 AND l.kind = 1 AND l.step = ?4 ORDER BY c.number DESC LIMIT 1)
    AND r.closed_us IS NOT NULL AND r.closed_reason <> 5
