UPDATE run r SET crash_count = r.crash_count + 1 FROM {bare run int}
WHERE r.key = u.run AND r.closed_us IS NULL
RETURNING u.row
