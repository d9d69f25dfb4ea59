-- ?1 namespace, ?2 how many are counted at most -> its open runs
SELECT count(*) FROM (SELECT 1 FROM run_summary WHERE namespace = ?1 AND ended = 0 LIMIT ?2) AS open_run
