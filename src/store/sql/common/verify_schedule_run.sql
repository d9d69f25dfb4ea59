-- I38. ?1 lowest, ?2 highest run key -> runs that were started by two firings; histories of no schedule
SELECT min(h.schedule) AS schedule, h.run AS run
FROM schedule_history h WHERE h.run IS NOT NULL AND ?1 < ?2
GROUP BY h.run HAVING count(*) > 1
UNION ALL
SELECT h.schedule AS schedule, h.run AS run
FROM schedule_history h LEFT JOIN schedule s ON s.key = h.schedule
WHERE s.key IS NULL AND ?1 < ?2
