-- Workers that are there. ?1 now_us, ?2 scope -> name, queue, scope, host, process, build_id, supported, recorded_us,
-- expires_us
SELECT name, queue, scope, host, process, build_id, supported, recorded_us, expires_us
FROM worker WHERE expires_us > ?1 AND scope = ?2 ORDER BY name, queue
