-- ?1 namespace, ?2 instance id: nobody else numbers messages of its streams before the commit. Nobody else writes here:
-- nothing to do.
UPDATE instance SET current_run = current_run WHERE namespace = ?1 AND id = ?2 AND 1 = 0
