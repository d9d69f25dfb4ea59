-- ?1 key, ?2 current_run, ?3 run_count; ?4 and ?5 what they were when that was found to be wrong. Flag: they still were.
UPDATE instance SET current_run = ?2, run_count = ?3 WHERE key = ?1 AND current_run IS ?4 AND run_count = ?5
