-- Runs that want a turn. ?1 after task key, ?2 how many -> task key, run
SELECT key, run FROM task WHERE kind = 1 AND status = 1 AND key > ?1 ORDER BY key LIMIT ?2
