-- The instance of a schedule's run, after schedule_take: an id that is taken meanwhile is an error. ?10 schedule, ?11 its
-- new revision.
INSERT INTO instance (key, namespace, id, shard, type, business_key, current_run, run_count, created_us)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM schedule s WHERE s.key = ?10 AND s.revision = ?11
