-- ?1 type -> key, fingerprint of the newest definition that was recorded for it
SELECT key, fingerprint FROM definition WHERE type = ?1 ORDER BY key DESC LIMIT 1
