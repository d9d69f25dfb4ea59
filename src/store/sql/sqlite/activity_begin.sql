-- An activity whose first attempt begins at once (running), with neither deadlines nor a policy of its own.
-- ?1 key, ?2 run, ?3 step, ?4 type, ?5 max_attempts, ?6 scheduled_us
INSERT INTO activity (key, run, step, type, max_attempts, scheduled_us, started_us, status, attempt)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 2, 1)
