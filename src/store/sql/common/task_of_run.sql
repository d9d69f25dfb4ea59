-- ?1 run -> the key of its workflow task
SELECT key FROM task WHERE run = ?1 AND kind = 1
