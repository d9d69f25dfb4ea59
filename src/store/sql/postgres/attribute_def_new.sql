WITH made AS (
    INSERT INTO search_attribute_def (namespace, name, type, created_us)
    SELECT u.namespace, u.name, u.type, u.created_us
    FROM {bare namespace int, name text, type int, created_us int}
    ON CONFLICT (namespace, name) DO NOTHING
    RETURNING namespace, name
)
SELECT k.row FROM unnest(?1::bigint[], ?2::text[]) WITH ORDINALITY AS k(namespace, name, row)
JOIN made ON made.namespace = k.namespace AND made.name = k.name
