-- ?1 namespace, ?2 how many chunks, ?3 now -> workflow tasks that wait for the first turn of a run; chunks of history,
-- among the oldest, whose run is gone; attempts of activities that began in the last whole minute
SELECT (SELECT count(*) FROM task t JOIN run r ON r.key = t.run JOIN run_summary s ON s.run = t.run
        WHERE t.kind = 1 AND t.status = 1 AND r.status = 1 AND s.namespace = ?1),
    (SELECT count(*) FROM (SELECT run FROM history ORDER BY position LIMIT ?2) h LEFT JOIN run r ON r.key = h.run
        WHERE r.key IS NULL),
    (SELECT CAST(sum(attempts) AS {int}) FROM metric_point
        WHERE namespace = ?1 AND span_us = 60000000 AND at_us > ?3 - 120000000 AND at_us <= ?3 - 60000000)
