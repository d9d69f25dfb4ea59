-- ?1 namespace, ?2 span_us, ?3 at_us, ?4 to ?11 what is added: started, completed, failed, cancelled, terminated,
-- continued, failures, events. Flag: always.
INSERT INTO metric_point (namespace, span_us, at_us, started, completed, failed, cancelled, terminated, continued,
    failures, events)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT (namespace, span_us, at_us) DO UPDATE SET
    started = metric_point.started + excluded.started,
    completed = metric_point.completed + excluded.completed,
    failed = metric_point.failed + excluded.failed,
    cancelled = metric_point.cancelled + excluded.cancelled,
    terminated = metric_point.terminated + excluded.terminated,
    continued = metric_point.continued + excluded.continued,
    failures = metric_point.failures + excluded.failures,
    events = metric_point.events + excluded.events
