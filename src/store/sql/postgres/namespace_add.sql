WITH made AS (
    INSERT INTO namespace (key, name, created_us, retention_days, description, storage)
    SELECT u.key, u.name, u.created_us, u.retention_days, u.description, u.storage
    FROM {bare key int, name text, created_us int, retention_days int, description text, storage text}
    ON CONFLICT (name) DO NOTHING
    RETURNING key
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(key, row) JOIN made ON made.key = k.key
