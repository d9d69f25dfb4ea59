DELETE FROM schedule_history t USING {bare schedule int}
WHERE t.schedule = u.schedule AND NOT EXISTS (SELECT 1 FROM schedule s WHERE s.key = u.schedule)
RETURNING u.row
