-- ?1 namespace, ?2 how many of the newest runs, ?3, ?4 two moments -> of those runs the ones that closed from the first moment on
-- and before the second: ended, closed_us, how long they were open in microseconds, type; and one row -1, 0, how many were looked at
WITH n AS (
    SELECT s.type AS type, s.ended AS ended, s.closed_us AS closed_us, s.sort_us AS sort_us FROM run_summary s WHERE s.namespace = ?1
    ORDER BY s.sort_us DESC, s.run DESC LIMIT ?2
)
SELECT -1, 0, count(*), '' FROM n
UNION ALL SELECT n.ended, n.closed_us, n.closed_us - n.sort_us, n.type FROM n
WHERE n.ended > 0 AND n.closed_us >= ?3 AND n.closed_us < ?4
