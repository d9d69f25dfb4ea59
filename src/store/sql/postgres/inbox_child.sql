INSERT INTO inbox (key, run, kind, source_run, created_us, body)
SELECT u.key, u.run, 1, r.key, u.created_us, NULL
FROM {rows key int, run int, child int, created_us int}
    JOIN run r ON r.key = u.child AND r.closed_us IS NOT NULL AND r.closed_reason <> 5
