UPDATE namespace n SET retention_days = coalesce(u.retention_days, n.retention_days),
    description = coalesce(u.description, n.description),
    storage = CASE WHEN u.storage IS NULL THEN n.storage ELSE nullif(u.storage, '') END
FROM {bare name text, retention_days int, description text, storage text}
WHERE n.name = u.name
RETURNING u.row
