-- The next run of an instance, created by the unit that closes the run before it.
-- ?1 key, ?2 run_count, ?3 current_run
UPDATE instance SET run_count = ?2, current_run = ?3 WHERE key = ?1
