-- ?1 key
DELETE FROM inbox WHERE key = ?1
