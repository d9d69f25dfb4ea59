-- The longest open runs that carry a build, counted. ?1 namespace, ?2 how many open runs are looked at -> build, runs,
-- sort_us of the oldest
SELECT o.compatibility, count(*), min(o.sort_us)
FROM (SELECT compatibility, sort_us FROM run_summary WHERE namespace = ?1 AND ended = 0 ORDER BY sort_us, run LIMIT ?2) AS o
WHERE o.compatibility IS NOT NULL GROUP BY o.compatibility ORDER BY o.compatibility
