-- ?1 child run -> parent run that waits for it, and the step
SELECT parent_run, step FROM link WHERE child_run = ?1 AND kind = 1
