-- ?1 run: which run of its instance is the newest stays so until the commit. Nobody else writes here: nothing to do.
UPDATE instance SET current_run = current_run WHERE key = ?1 AND 1 = 0
