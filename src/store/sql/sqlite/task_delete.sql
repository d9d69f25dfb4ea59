-- ?1 key
DELETE FROM task WHERE key = ?1
