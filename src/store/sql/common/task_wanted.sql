-- ?1 run -> the task that gives its code a turn
SELECT key FROM task WHERE run = ?1 AND kind = 1
