-- I38. ?1 lowest, ?2 highest run key, ?3 active, ?4 deleted -> schedules of no namespace, or that would fire though deleted,
-- or whose last run is of no instance
SELECT s.key AS schedule, s.status AS status FROM schedule s LEFT JOIN namespace n ON n.key = s.namespace
    LEFT JOIN instance i ON i.key = s.latest_instance
WHERE ?1 < ?2 AND (n.key IS NULL OR s.status < ?3 OR s.status > ?4 OR (s.status = ?4 AND s.next_us IS NOT NULL)
    OR (s.latest_instance IS NOT NULL AND i.key IS NULL))
