-- ?1 key, ?2 name, ?3 created_us, ?4 retention_days, ?5 description, ?6 storage. Flag: it is new.
INSERT INTO namespace (key, name, created_us, retention_days, description, storage)
VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name) DO NOTHING
