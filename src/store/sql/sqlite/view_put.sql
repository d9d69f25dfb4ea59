-- ?1 key, ?2 namespace, ?3 scope, ?4 bucket, ?5 name, ?6 owner, ?7 shared, ?8 filters, ?9 filter_version, ?10 created_us,
-- ?11 updated_us: a new view, or its owner changes it. Flag: it is the owner's.
INSERT INTO saved_view (key, namespace, scope, bucket, name, owner, shared, filters, filter_version, created_us, updated_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT (key) DO UPDATE SET bucket = excluded.bucket, name = excluded.name, shared = excluded.shared,
    filters = excluded.filters, filter_version = excluded.filter_version, updated_us = excluded.updated_us
WHERE saved_view.owner = excluded.owner AND saved_view.namespace = excluded.namespace
