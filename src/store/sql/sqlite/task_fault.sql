-- A worker could not do the run's workflow task: it is offered again later. ?1 key, ?2 run, ?3 queue, ?4 now_us,
-- ?5 body: what it said, ?6 repair_us
INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, attempt, repair_count, created_us, body,
    trouble, repair_us)
VALUES (?1, ?2, 1, 1, ?3, 5, ?4, 0, 1, 0, ?4, ?5, 3, ?6)
ON CONFLICT (run, (CASE kind WHEN 1 THEN 0 ELSE key END)) DO UPDATE SET status = 1, attempt = task.attempt + 1,
    body = excluded.body, trouble = 3, repair_us = excluded.repair_us
