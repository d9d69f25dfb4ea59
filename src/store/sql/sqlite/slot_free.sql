-- ?1 key, ?2 run, ?3 owner, ?4 namespace. Flag: the owner held it.
DELETE FROM slot WHERE namespace = ?4 AND key = ?1 AND run = ?2 AND owner = ?3
