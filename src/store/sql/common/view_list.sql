-- ?1 namespace, ?2 key (0: all), ?3 scope (null: any) -> views in the order of their names: key, scope, bucket, name,
-- owner, shared, filters, filter_version, created_us, updated_us
SELECT key, scope, bucket, name, owner, shared, filters, filter_version, created_us, updated_us FROM saved_view
WHERE namespace = ?1 AND (?2 = 0 OR key = ?2) AND (CAST(?3 AS TEXT) IS NULL OR scope = ?3)
ORDER BY bucket, name, key
