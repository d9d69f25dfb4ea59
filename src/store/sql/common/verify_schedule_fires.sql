-- I38. ?1 lowest, ?2 highest run key -> schedules that did not count the runs they started
SELECT s.key AS schedule, s.fires AS fires
FROM schedule s LEFT JOIN schedule_history h ON h.schedule = s.key
WHERE ?1 < ?2
GROUP BY s.key, s.fires
HAVING count(h.run) <> s.fires
