-- ?1 key, ?2 name, ?3 created_us -> key when it is new
INSERT INTO namespace (key, name, created_us) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING RETURNING key
