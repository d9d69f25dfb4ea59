-- ?1 key: whether the run is open stays so until the commit. Nobody else writes here: nothing to do.
UPDATE run SET last_us = last_us WHERE key = ?1 AND 1 = 0
