-- ?1 key, ?2 namespace, ?3 status, ?4 total, ?5 created_us, ?6 body. Flag: it is new.
INSERT INTO batch (key, namespace, status, at, total, next_us, epoch, created_us, body) VALUES (?1, ?2, ?3, 0, ?4, 0, 0, ?5, ?6)
ON CONFLICT (key) DO NOTHING
