WITH put AS (
    INSERT INTO build (namespace, queue, build_id, drained_us)
    SELECT DISTINCT ON (u.namespace, u.queue, u.build_id) u.namespace, u.queue, u.build_id, u.drained_us
    FROM {bare namespace int, queue text, build_id text, drained_us int}
    ORDER BY u.namespace, u.queue, u.build_id, u.row DESC
    ON CONFLICT (namespace, queue, build_id) DO UPDATE SET drained_us =
        CASE WHEN excluded.drained_us IS NULL THEN NULL ELSE coalesce(build.drained_us, excluded.drained_us) END
    RETURNING queue
)
SELECT k.row FROM unnest(?2::text[]) WITH ORDINALITY AS k(queue, row) JOIN put ON put.queue = k.queue
