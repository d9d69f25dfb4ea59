-- ?1 parent run -> children started by it: child_run, step, policy, child_instance
SELECT child_run, step, policy, child_instance FROM link WHERE parent_run = ?1 AND kind = 1 ORDER BY key
