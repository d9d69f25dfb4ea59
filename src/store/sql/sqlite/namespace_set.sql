-- ?1 name, ?2 retention_days, ?3 description, ?4 storage ('' takes it away); null: stays. Flag: there is such a namespace.
UPDATE namespace SET retention_days = coalesce(?2, retention_days), description = coalesce(?3, description),
    storage = CASE WHEN ?4 IS NULL THEN storage ELSE nullif(?4, '') END
WHERE name = ?1
