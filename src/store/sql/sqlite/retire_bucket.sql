-- ?1 key, ?2 namespace, ?3 now_us: a bucket that is full. Flag: it was there.
DELETE FROM bucket WHERE key = ?1 AND namespace = ?2 AND full_us <= ?3
