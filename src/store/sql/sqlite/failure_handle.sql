-- ?1 run, ?2 step: the code went on after the failure of that step
UPDATE failure SET handled = 1 WHERE run = ?1 AND step = ?2
