WITH put AS (
    INSERT INTO saved_view (key, namespace, scope, bucket, name, owner, shared, filters, filter_version, created_us,
        updated_us)
    SELECT u.key, u.namespace, u.scope, u.bucket, u.name, u.owner, u.shared, u.filters, u.filter_version, u.created_us,
        u.updated_us
    FROM {bare key int, namespace int, scope text, bucket text, name text, owner text, shared int, filters text,
        filter_version int, created_us int, updated_us int}
    ON CONFLICT (key) DO UPDATE SET bucket = excluded.bucket, name = excluded.name, shared = excluded.shared,
        filters = excluded.filters, filter_version = excluded.filter_version, updated_us = excluded.updated_us
    WHERE saved_view.owner = excluded.owner AND saved_view.namespace = excluded.namespace
    RETURNING key
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(key, row) JOIN put ON put.key = k.key
