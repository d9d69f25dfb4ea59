-- ?1 run -> the priority of its workflow task
SELECT priority FROM task WHERE run = ?1 AND kind = 1
