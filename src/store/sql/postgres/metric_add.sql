WITH u AS (
    SELECT * FROM {bare run int, expected int, namespace int, span_us int, at_us int, started int, completed int,
        failed int, cancelled int, terminated int, continued int, failures int, events int}
), held AS (
    SELECT s.run, s.folded_seq FROM run_summary s WHERE s.run IN (SELECT u.run FROM u) ORDER BY s.run FOR UPDATE
), put AS (
    INSERT INTO metric_point (namespace, span_us, at_us, started, completed, failed, cancelled, terminated, continued,
        failures, events)
    SELECT u.namespace, u.span_us, u.at_us, sum(u.started), sum(u.completed), sum(u.failed), sum(u.cancelled),
        sum(u.terminated), sum(u.continued), sum(u.failures), sum(u.events)
    FROM u JOIN held ON held.run = u.run AND held.folded_seq = u.expected
    GROUP BY u.namespace, u.span_us, u.at_us ORDER BY u.namespace, u.span_us, u.at_us
    ON CONFLICT (namespace, span_us, at_us) DO UPDATE SET
        started = metric_point.started + excluded.started,
        completed = metric_point.completed + excluded.completed,
        failed = metric_point.failed + excluded.failed,
        cancelled = metric_point.cancelled + excluded.cancelled,
        terminated = metric_point.terminated + excluded.terminated,
        continued = metric_point.continued + excluded.continued,
        failures = metric_point.failures + excluded.failures,
        events = metric_point.events + excluded.events
    RETURNING 1
)
SELECT u.row FROM u JOIN held ON held.run = u.run AND held.folded_seq = u.expected
