UPDATE instance i SET current_run = u.current_run, run_count = u.run_count
FROM {bare key int, current_run int, run_count int, seen_run int, seen_count int}
WHERE i.key = u.key AND i.current_run IS NOT DISTINCT FROM u.seen_run AND i.run_count = u.seen_count
RETURNING u.row
