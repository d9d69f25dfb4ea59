-- Workers that are there. ?1 now_us, ?2 scope, ?3 namespace: without those that registered in others alone; 0: all -> name,
-- queue, scope, host, process, build_id, supported, recorded_us, expires_us
SELECT w.name, w.queue, w.scope, w.host, w.process, w.build_id, w.supported, w.recorded_us, w.expires_us
FROM worker w WHERE w.expires_us > ?1 AND w.scope = ?2 AND (?3 = 0
    OR w.name NOT IN (SELECT r.worker FROM registration r)
    OR w.name IN (SELECT r.worker FROM registration r WHERE r.namespace = ?3))
ORDER BY w.name, w.queue
