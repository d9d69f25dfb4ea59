-- I38. ?1 lowest, ?2 highest run key -> times that fired more than once
SELECT schedule AS schedule, slot_us AS slot
FROM schedule_history
WHERE slot_us IS NOT NULL AND ?1 < ?2
GROUP BY schedule, slot_us HAVING count(*) > 1
