-- The code of this build does not fit the run's history. ?1 key, ?2 run, ?3 status, ?4 queue, ?5 now_us, ?6 body: why
INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, attempt, repair_count, created_us, body)
VALUES (?1, ?2, 1, ?3, ?4, 5, ?5, 0, 0, 0, ?5, ?6)
ON CONFLICT (run, (CASE kind WHEN 1 THEN 0 ELSE key END)) DO UPDATE SET status = excluded.status, body = excluded.body
