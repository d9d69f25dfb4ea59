-- ?1 namespace, ?2 build -> 1 when a worker said that it is of the build, a run carries it, or it was promoted before
SELECT 1 WHERE EXISTS (SELECT 1 FROM worker w WHERE w.build_id = ?2)
    OR EXISTS (SELECT 1 FROM build b WHERE b.namespace = ?1 AND b.build_id = ?2 AND b.promoted_us IS NOT NULL)
    OR EXISTS (SELECT 1 FROM run_summary s WHERE s.namespace = ?1 AND s.compatibility = ?2)
