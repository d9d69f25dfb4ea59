-- ?1 namespace -> per closing status (0: open): status, runs, archived, exceptions, most events, most bytes, how many
-- should continue as new, how many come near
SELECT s.ended, count(*), sum(CASE WHEN s.archived_us IS NULL THEN 0 ELSE 1 END), CAST(sum(s.exception_count) AS {int}),
    max(s.event_count), max(s.history_bytes), sum(CASE WHEN s.pressure = 3 THEN 1 ELSE 0 END),
    sum(CASE WHEN s.pressure = 2 THEN 1 ELSE 0 END), max(s.fan_out), CAST(sum(s.event_count) AS {int})
FROM run_summary s WHERE s.namespace = ?1 GROUP BY s.ended
