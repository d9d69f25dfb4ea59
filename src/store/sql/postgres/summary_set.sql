UPDATE run_summary s SET status = u.status, ended = CASE WHEN u.status > 3 THEN u.status ELSE 0 END, settled = 0
FROM {rows run int, status int}
WHERE s.run = u.run
