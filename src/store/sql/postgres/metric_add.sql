WITH put AS (
    INSERT INTO metric_point (namespace, span_us, at_us, started, completed, failed, cancelled, terminated, continued,
        failures, events)
    SELECT u.namespace, u.span_us, u.at_us, u.started, u.completed, u.failed, u.cancelled, u.terminated, u.continued,
        u.failures, u.events
    FROM {bare namespace int, span_us int, at_us int, started int, completed int, failed int, cancelled int,
        terminated int, continued int, failures int, events int}
    ON CONFLICT (namespace, span_us, at_us) DO UPDATE SET
        started = metric_point.started + excluded.started,
        completed = metric_point.completed + excluded.completed,
        failed = metric_point.failed + excluded.failed,
        cancelled = metric_point.cancelled + excluded.cancelled,
        terminated = metric_point.terminated + excluded.terminated,
        continued = metric_point.continued + excluded.continued,
        failures = metric_point.failures + excluded.failures,
        events = metric_point.events + excluded.events
    RETURNING namespace, span_us, at_us
)
SELECT k.row FROM unnest(?1::bigint[], ?2::bigint[], ?3::bigint[]) WITH ORDINALITY AS k(namespace, span_us, at_us, row)
JOIN put ON put.namespace = k.namespace AND put.span_us = k.span_us AND put.at_us = k.at_us
