WITH made AS (
    INSERT INTO definition (key, fingerprint, type, body)
    SELECT u.key, u.fingerprint, u.type, u.body
    FROM {bare key int, fingerprint text, type text, body blob}
    ON CONFLICT (fingerprint) DO NOTHING
    RETURNING key
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(key, row) JOIN made ON made.key = k.key
