UPDATE instance i SET run_count = u.run_count, current_run = u.current_run, type = u.type, business_key = u.business_key
FROM {bare key int, expected int, run_count int, current_run int, type text, business_key text}
WHERE i.key = u.key AND i.run_count = u.expected
RETURNING u.row
