WITH put AS (
    INSERT INTO build (namespace, queue, build_id, promoted_us)
    SELECT DISTINCT ON (u.namespace, u.queue, u.build_id) u.namespace, u.queue, u.build_id, u.promoted_us
    FROM {bare namespace int, queue text, build_id text, promoted_us int}
    ORDER BY u.namespace, u.queue, u.build_id, u.row DESC
    ON CONFLICT (namespace, queue, build_id) DO UPDATE SET promoted_us = excluded.promoted_us
    RETURNING queue
)
SELECT k.row FROM unnest(?2::text[]) WITH ORDINALITY AS k(queue, row) JOIN put ON put.queue = k.queue
