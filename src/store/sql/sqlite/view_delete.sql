-- ?1 key, ?2 namespace, ?3 owner. Flag: it was the owner's and is gone.
DELETE FROM saved_view WHERE key = ?1 AND namespace = ?2 AND owner = ?3
