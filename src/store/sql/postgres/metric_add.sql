WITH held AS (
    SELECT u.*
    FROM {bare run int, expected int, namespace int, span_us int, at_us int, started int, completed int,
        failed int, cancelled int, terminated int, continued int, failures int, attempts int,
        retries int, events int}
        JOIN run_summary s ON s.run = u.run
    WHERE s.folded_seq = u.expected ORDER BY u.run FOR UPDATE OF s
), put AS (
    INSERT INTO metric_point (namespace, span_us, at_us, started, completed, failed, cancelled, terminated, continued,
        failures, attempts, retries, events)
    SELECT namespace, span_us, at_us, sum(started), sum(completed), sum(failed), sum(cancelled), sum(terminated),
        sum(continued), sum(failures), sum(attempts), sum(retries), sum(events)
    FROM held GROUP BY namespace, span_us, at_us ORDER BY namespace, span_us, at_us
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
    RETURNING 1
)
SELECT held.row FROM held
