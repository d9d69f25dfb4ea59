UPDATE message m SET state = CASE WHEN m.taken_step > u.step THEN 1 ELSE m.state END,
    taken_run = CASE WHEN m.taken_step > u.step THEN NULL ELSE u.next_run END,
    taken_us = CASE WHEN m.taken_step > u.step THEN NULL ELSE m.taken_us END,
    taken_step = CASE WHEN m.taken_step > u.step THEN NULL ELSE m.taken_step END
FROM {rows run int, next_run int, step int}
WHERE m.taken_run = u.run
