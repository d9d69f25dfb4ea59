-- A worker is gone. ?1 namespace, ?2 worker
DELETE FROM registration WHERE namespace = ?1 AND worker = ?2
