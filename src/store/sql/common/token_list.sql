-- -> id, digest, label, role, namespaces, created_us, expires_us, revoked_us; oldest first
SELECT id, digest, label, role, namespaces, created_us, expires_us, revoked_us FROM token ORDER BY created_us, id
