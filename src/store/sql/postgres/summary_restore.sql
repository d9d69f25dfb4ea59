WITH restored AS (
    INSERT INTO run_summary (run, namespace, instance, status, ended, sort_us, type, business_key, queue)
    SELECT r.key, i.namespace, r.instance, r.status, CASE WHEN r.status > 3 THEN r.status ELSE 0 END, r.created_us,
        i.type, i.business_key, r.queue
    FROM {bare run int} JOIN run r ON r.key = u.run JOIN instance i ON i.key = r.instance
    ON CONFLICT (run) DO NOTHING
    RETURNING run
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(run, row) JOIN restored ON restored.run = k.run
