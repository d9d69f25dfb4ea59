-- Open activities. ?1 after activity key, ?2 how many -> key, run, type, status, available_us, deadline_us
SELECT key, run, type, status, available_us, deadline_us
FROM activity WHERE closed_us IS NULL AND key > ?1 ORDER BY key LIMIT ?2
