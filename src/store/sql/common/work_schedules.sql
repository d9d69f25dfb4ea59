-- The schedules that do something by themselves. ?1 after key, ?2 before, ?3 how many -> key
SELECT key FROM schedule
WHERE key > ?1 AND status = 1 AND (next_us IS NULL OR next_us <= ?2)
ORDER BY key LIMIT ?3
