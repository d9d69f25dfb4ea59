-- The run's workflow task could not be handed over or claimed. ?1 run, ?2 trouble, ?3 repair_us.
-- Flag: there is such a task.
UPDATE task SET trouble = ?2, repair_us = ?3, repair_count = repair_count + 1
WHERE run = ?1 AND kind = 1 AND status IN (1, 2)
