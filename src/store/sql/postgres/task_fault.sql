WITH failed AS (
    INSERT INTO task AS t (key, run, kind, status, queue, priority, available_us, epoch, attempt, repair_count, created_us,
        body, trouble, repair_us)
    SELECT u.key, u.run, 1, 1, u.queue, 5, u.now_us, 0, 1, 0, u.now_us, u.body, 3, u.repair_us
    FROM {bare key int, run int, queue text, now_us int, body blob, repair_us int}
    ON CONFLICT (run, (CASE kind WHEN 1 THEN 0 ELSE key END)) DO UPDATE SET status = 1, attempt = t.attempt + 1,
        body = excluded.body, trouble = 3, repair_us = excluded.repair_us
    RETURNING run
)
SELECT k.row FROM unnest(?2::bigint[]) WITH ORDINALITY AS k(run, row) JOIN failed ON failed.run = k.run
