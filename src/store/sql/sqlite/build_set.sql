-- A build is drained, or works again. ?1 namespace, ?2 queue, ?3 build_id, ?4 drained_us
INSERT INTO build (namespace, queue, build_id, drained_us) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (namespace, queue, build_id) DO UPDATE SET drained_us =
    CASE WHEN excluded.drained_us IS NULL THEN NULL ELSE coalesce(build.drained_us, excluded.drained_us) END
