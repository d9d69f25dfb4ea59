-- ?1 namespace, ?2 how many at most -> its schedules: status, next_us, fires, body
SELECT status, next_us, fires, body FROM schedule WHERE namespace = ?1 AND status <> 3 ORDER BY key LIMIT ?2
