INSERT INTO activity {insert key int, run int, step int, type text, max_attempts int, scheduled_us int, started_us int,
status int, attempt int, lost_attempts int, deadline_us int, close_deadline_us int, closed_us int, policy blob, available_us int}
