-- The newest run of the child that a run (?1) called in a step (?2): whether it is open stays so until the commit. Nobody
-- else writes here: nothing to do.
UPDATE run SET last_us = last_us WHERE key = ?1 AND ?2 IS ?2 AND 1 = 0
