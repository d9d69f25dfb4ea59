-- ?1 key, ?2 run, ?3 owner. Flag: the owner held it.
DELETE FROM slot WHERE key = ?1 AND run = ?2 AND owner = ?3
