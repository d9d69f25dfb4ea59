-- ?1 namespace, ?2 span_us, ?3 from, ?4 before, ?5 how many -> points in the order of time: at_us, started, completed,
-- failed, cancelled, terminated, continued, failures, attempts, retries, events
SELECT at_us, started, completed, failed, cancelled, terminated, continued, failures, attempts, retries, events
FROM metric_point
WHERE namespace = ?1 AND span_us = ?2 AND at_us >= ?3 AND at_us < ?4 ORDER BY at_us LIMIT ?5
