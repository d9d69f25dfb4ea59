-- I38. ?1 lowest, ?2 highest run key -> schedules whose history is not numbered 1 to the newest
SELECT s.key AS schedule, s.events AS events
FROM schedule s LEFT JOIN schedule_history h ON h.schedule = s.key
WHERE ?1 < ?2
GROUP BY s.key, s.events
HAVING count(h.sequence) <> s.events OR coalesce(max(h.sequence), 0) <> s.events
