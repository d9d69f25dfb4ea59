WITH made AS (
    INSERT INTO dedup (instance, hash, command)
    SELECT u.instance, u.hash, u.command FROM {bare instance int, hash blob, command int}
    ON CONFLICT (instance, hash) DO NOTHING
    RETURNING instance, hash
)
SELECT k.row FROM unnest(?1::bigint[], ?2::bytea[]) WITH ORDINALITY AS k(instance, hash, row)
    JOIN made ON made.instance = k.instance AND made.hash = k.hash
