WITH blocked AS (
    INSERT INTO task (key, run, kind, status, queue, priority, available_us, epoch, attempt, repair_count, created_us, body)
    SELECT u.key, u.run, 1, u.status, u.queue, 5, u.now_us, 0, 0, 0, u.now_us, u.body
    FROM {bare key int, run int, status int, queue text, now_us int, body blob}
    ON CONFLICT (run, (CASE kind WHEN 1 THEN 0 ELSE key END)) DO UPDATE SET status = excluded.status, body = excluded.body
    RETURNING run
)
SELECT k.row FROM unnest(?2::bigint[]) WITH ORDINALITY AS k(run, row) JOIN blocked ON blocked.run = k.run
