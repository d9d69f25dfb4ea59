-- ?1 key -> fingerprint, type, body
SELECT fingerprint, type, body FROM definition WHERE key = ?1
