-- ?1 schedule: history of a schedule that retention removed. Flag: there was something.
DELETE FROM schedule_history WHERE schedule = ?1 AND NOT EXISTS (SELECT 1 FROM schedule WHERE key = ?1)
