UPDATE run r SET crash_count = r.crash_count + 1 FROM {bare run int}
WHERE r.key = u.run AND coalesce(r.closed_us, 0) = 0
RETURNING u.row
