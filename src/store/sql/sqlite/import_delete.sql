-- ?1 namespace, ?2 run_id. Flag: it was there and is gone.
DELETE FROM imported_run WHERE namespace = ?1 AND run_id = ?2
