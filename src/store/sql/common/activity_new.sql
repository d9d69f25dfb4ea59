INSERT INTO activity {insert key int, run int, step int, type text, status int, attempt int, max_attempts int,
lost_attempts int, scheduled_us int, started_us int, deadline_us int, close_deadline_us int, closed_us int, policy blob, available_us int}
