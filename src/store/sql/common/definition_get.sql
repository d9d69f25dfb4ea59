-- ?1 fingerprint -> key, type, body
SELECT key, type, body FROM definition WHERE fingerprint = ?1
