WITH made AS (
    INSERT INTO batch (key, namespace, status, at, total, next_us, epoch, created_us, body)
    SELECT u.key, u.namespace, u.status, 0, u.total, 0, 0, u.created_us, u.body
    FROM {bare key int, namespace int, status int, total int, created_us int, body blob}
    ON CONFLICT (key) DO NOTHING
    RETURNING key
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(key, row) JOIN made ON made.key = k.key
