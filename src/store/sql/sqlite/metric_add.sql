-- What the events of run ?1 behind ?2 add to a point, while its summary knows those up to ?2: before HF_OP_SUMMARY_FOLD of
-- the same transaction, so that every event counts once, whoever folds it and however often the rows are written.
-- ?3 namespace, ?4 span_us, ?5 at_us, ?6 to ?15 what is added: started, completed, failed, cancelled, terminated,
-- continued, failures, attempts, retries, events. Flag: it was so.
INSERT INTO metric_point (namespace, span_us, at_us, started, completed, failed, cancelled, terminated, continued,
    failures, attempts, retries, events)
SELECT ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15
WHERE EXISTS (SELECT 1 FROM run_summary WHERE run = ?1 AND folded_seq = ?2)
ON CONFLICT (namespace, span_us, at_us) DO UPDATE SET
    started = metric_point.started + excluded.started,
    completed = metric_point.completed + excluded.completed,
    failed = metric_point.failed + excluded.failed,
    cancelled = metric_point.cancelled + excluded.cancelled,
    terminated = metric_point.terminated + excluded.terminated,
    continued = metric_point.continued + excluded.continued,
    failures = metric_point.failures + excluded.failures,
    attempts = metric_point.attempts + excluded.attempts,
    retries = metric_point.retries + excluded.retries,
    events = metric_point.events + excluded.events
