UPDATE run r SET blocked = u.blocked, crash_count = u.crash_count
FROM {rows key int, blocked int, crash_count int}
WHERE r.key = u.key
