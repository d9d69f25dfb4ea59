-- Schedules that were deleted and whose time is over. ?1 now_us, ?2 namespace (0: all), ?3 how many -> key
SELECT s.key FROM schedule s JOIN namespace n ON n.key = s.namespace
WHERE s.status = 3 AND n.retention_days > 0 AND (?2 = 0 OR n.key = ?2)
    AND (SELECT max(h.recorded_us) FROM schedule_history h WHERE h.schedule = s.key) <= ?1 - n.retention_days * 86400000000
ORDER BY s.key LIMIT ?3
