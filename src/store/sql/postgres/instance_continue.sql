UPDATE instance i SET run_count = u.run_count, current_run = u.current_run
FROM {rows key int, run_count int, current_run int}
WHERE i.key = u.key
