-- A worker says that it is there. ?1 name, ?2 queue, ?3 scope, ?4 host, ?5 process, ?6 build_id, ?7 supported,
-- ?8 recorded_us, ?9 expires_us
INSERT INTO worker (name, queue, scope, host, process, build_id, supported, recorded_us, expires_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (name, queue) DO UPDATE SET scope = excluded.scope, host = excluded.host, process = excluded.process,
    build_id = excluded.build_id, supported = excluded.supported, recorded_us = excluded.recorded_us,
    expires_us = excluded.expires_us
