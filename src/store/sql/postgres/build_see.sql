WITH put AS (
    INSERT INTO build_seen (namespace, queue, build_id, first_us, last_us)
    SELECT u.namespace, u.queue, u.build_id, min(u.now_us), max(u.now_us)
    FROM {bare namespace int, queue text, build_id text, now_us int}
    GROUP BY u.namespace, u.queue, u.build_id ORDER BY u.namespace, u.queue, u.build_id
    ON CONFLICT (namespace, queue, build_id) DO UPDATE SET last_us = excluded.last_us
    RETURNING queue
)
SELECT k.row FROM unnest(?2::text[]) WITH ORDINALITY AS k(queue, row) JOIN put ON put.queue = k.queue
