UPDATE run_summary s SET status = u.status FROM {rows run int, status int}
WHERE s.run = u.run
