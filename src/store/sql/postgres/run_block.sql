UPDATE run r SET blocked = u.blocked FROM {bare run int, blocked int}
WHERE r.key = u.run AND coalesce(r.closed_us, 0) = 0
RETURNING u.row
