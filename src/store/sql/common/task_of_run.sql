-- ?1 run -> its workflow task: key, trouble, repair_us, body
SELECT key, trouble, coalesce(repair_us, 0), body FROM task WHERE run = ?1 AND kind = 1
