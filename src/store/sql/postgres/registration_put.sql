WITH put AS (
    INSERT INTO registration (namespace, worker, body, seen_us)
    SELECT DISTINCT ON (u.namespace, u.worker) u.namespace, u.worker, u.body, u.seen_us
    FROM {bare namespace int, worker text, body blob, seen_us int}
    ORDER BY u.namespace, u.worker, u.row DESC
    ON CONFLICT (namespace, worker) DO UPDATE SET body = excluded.body, seen_us = excluded.seen_us
    RETURNING worker
)
SELECT k.row FROM unnest(?2::text[]) WITH ORDINALITY AS k(worker, row) JOIN put ON put.worker = k.worker
