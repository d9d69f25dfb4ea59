-- ?1 key, ?2 run_count expected, ?3 run_count, ?4 current_run, ?5 type, ?6 business_key. Flag: it was as expected.
UPDATE instance SET run_count = ?3, current_run = ?4, type = ?5, business_key = ?6 WHERE key = ?1 AND run_count = ?2
