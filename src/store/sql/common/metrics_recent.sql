-- ?1 namespace, ?2 a minute ago, ?3 an hour ago, ?4 a week ago -> started in the last minute and hour, failures in the
-- last hour, runs that failed in the last week
SELECT (SELECT count(*) FROM run_summary WHERE namespace = ?1 AND sort_us >= ?2),
    (SELECT count(*) FROM run_summary WHERE namespace = ?1 AND sort_us >= ?3),
    (SELECT count(*) FROM failure WHERE namespace = ?1 AND at_us >= ?3),
    (SELECT count(*) FROM run_summary WHERE namespace = ?1 AND ended = 7 AND sort_us >= ?4)
