-- ?1 key
DELETE FROM activity WHERE key = ?1
