-- A worker of the build registers. ?1 namespace, ?2 queue, ?3 build_id, ?4 now_us
INSERT INTO build_seen (namespace, queue, build_id, first_us, last_us) VALUES (?1, ?2, ?3, ?4, ?4)
ON CONFLICT (namespace, queue, build_id) DO UPDATE SET last_us = excluded.last_us
