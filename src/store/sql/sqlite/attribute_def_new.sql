-- ?1 namespace, ?2 name, ?3 type, ?4 created_us. Flag: it is new.
INSERT INTO search_attribute_def (namespace, name, type, created_us) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (namespace, name) DO NOTHING
