-- A definition that a worker brought. ?1 key, ?2 fingerprint, ?3 type, ?4 body. Flag: it is new.
INSERT INTO definition (key, fingerprint, type, body) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (fingerprint) DO NOTHING
