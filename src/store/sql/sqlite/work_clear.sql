-- ?1 run: it closed. Its tasks; activities, timers and inbox have statements of their own here.
DELETE FROM task WHERE run = ?1
