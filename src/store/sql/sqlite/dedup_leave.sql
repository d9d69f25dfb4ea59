-- The same for an instance without a run. Flag: it is new.
INSERT INTO dedup (instance, hash, command) VALUES (?1, ?2, ?3) ON CONFLICT (instance, hash) DO NOTHING
