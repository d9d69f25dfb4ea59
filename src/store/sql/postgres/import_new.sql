WITH made AS (
    INSERT INTO imported_run (key, namespace, run_id, instance_id, type, events, complete, exported_us, imported_us, size,
        digest, compression, body)
    SELECT u.key, u.namespace, u.run_id, u.instance_id, u.type, u.events, u.complete, u.exported_us, u.imported_us, u.size,
        u.digest, u.compression, u.body
    FROM {bare key int, namespace int, run_id text, instance_id text, type text, events int, complete int,
        exported_us int, imported_us int, size int, digest blob, compression int, body blob}
    ON CONFLICT (namespace, run_id) DO NOTHING
    RETURNING key
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(key, row) JOIN made ON made.key = k.key
