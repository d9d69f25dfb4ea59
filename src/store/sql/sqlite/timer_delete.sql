-- ?1 key
DELETE FROM timer WHERE key = ?1
