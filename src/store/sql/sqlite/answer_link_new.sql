-- A link. ?1 key, ?2 digest, ?3 namespace, ?4 instance_id, ?5 run, ?6 step, ?7 name, ?8 label, ?9 created_by,
-- ?10 created_us, ?11 expires_us, ?12 how many a wait may have. Flag: it is made.
INSERT INTO answer_link (key, digest, namespace, instance_id, run, step, name, label, created_by, created_us, expires_us, turn)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0
WHERE (SELECT count(*) FROM answer_link a WHERE a.namespace = ?3 AND a.run = ?5 AND a.step = ?6 AND a.used_us IS NULL
    AND a.revoked_us IS NULL AND a.expires_us > ?10) < ?12
