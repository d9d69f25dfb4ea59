-- An activity that begins at once and has neither deadlines nor a policy of its own.
INSERT INTO activity {insert key int, run int, step int, type text, status int, attempt int, max_attempts int,
lost_attempts int, scheduled_us int, started_us int}
