-- A run that takes a child over hears at once of its end if it has ended by now; one that went on as a new run has not.
-- ?1 key, ?2 run, ?3 child run, ?4 created_us
INSERT INTO inbox (key, run, kind, source_run, created_us, body)
SELECT ?1, ?2, 1, r.key, ?4, NULL FROM run r WHERE r.key = ?3 AND r.closed_us IS NOT NULL AND r.closed_reason <> 5
