-- A new token. ?1 id, ?2 digest, ?3 label, ?4 role, ?5 namespaces, ?6 created_us, ?7 expires_us. Flag: it is new.
INSERT INTO token (id, digest, label, role, namespaces, created_us, expires_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING
