-- New runs of the queue are the build's. ?1 namespace, ?2 queue, ?3 build_id, ?4 promoted_us
INSERT INTO build (namespace, queue, build_id, promoted_us) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (namespace, queue, build_id) DO UPDATE SET promoted_us = excluded.promoted_us
