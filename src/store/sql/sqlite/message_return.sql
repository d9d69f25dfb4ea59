-- Run ?2 takes the place of run ?1 with its steps up to ?3: what was read behind them is unread again.
UPDATE message SET state = CASE WHEN taken_step > ?3 THEN 1 ELSE state END,
    taken_run = CASE WHEN taken_step > ?3 THEN NULL ELSE ?2 END,
    taken_us = CASE WHEN taken_step > ?3 THEN NULL ELSE taken_us END,
    taken_step = CASE WHEN taken_step > ?3 THEN NULL ELSE taken_step END
WHERE taken_run = ?1
