-- ?1 key of an imported run. Flag: it was there.
DELETE FROM imported_run WHERE key = ?1
