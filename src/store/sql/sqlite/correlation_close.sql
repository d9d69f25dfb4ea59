-- ?1 instance, ?2 how it ended, a bit of `scope`: the key is free, unless it stays taken after such an end.
DELETE FROM correlation WHERE instance = ?1 AND (scope & ?2) = 0
