INSERT INTO activity (key, run, step, type, max_attempts, scheduled_us, started_us, status, attempt)
SELECT u.key, u.run, u.step, u.type, u.max_attempts, u.scheduled_us, u.scheduled_us, 2, 1
FROM {rows key int, run int, step int, type text, max_attempts int, scheduled_us int}
