UPDATE run r SET blocked = u.blocked FROM {bare run int, blocked int}
WHERE r.key = u.run AND r.closed_us IS NULL
RETURNING u.row
