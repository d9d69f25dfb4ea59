-- ?1 schedule, ?2 after sequence, ?3 how many -> its history
SELECT sequence, type, recorded_us, run, body
FROM schedule_history WHERE schedule = ?1 AND sequence > ?2
ORDER BY sequence LIMIT ?3
