-- A worker could do the run's workflow task after all. ?1 run
UPDATE task SET body = NULL, trouble = 0, repair_us = NULL WHERE run = ?1 AND kind = 1 AND trouble = 3
