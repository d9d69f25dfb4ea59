-- ?1 key -> status, outcome, state, run
SELECT status, outcome, state, run FROM command WHERE key = ?1
