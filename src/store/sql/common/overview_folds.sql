-- ?1 namespace, ?2 how many of the newest runs -> kinds of failures of the namespace; of the store: runs without a summary,
-- summaries behind their history, summaries without a run
SELECT (SELECT count(DISTINCT f.print) FROM (SELECT failure_print AS print FROM run_summary WHERE namespace = ?1
        ORDER BY sort_us DESC, run DESC LIMIT ?2) f),
    (SELECT count(*) FROM (SELECT key FROM run ORDER BY key DESC LIMIT ?2) r LEFT JOIN run_summary s ON s.run = r.key
        WHERE s.run IS NULL),
    (SELECT count(*) FROM (SELECT run, folded_seq FROM run_summary WHERE settled = 0 ORDER BY run DESC LIMIT ?2) s
        JOIN run r ON r.key = s.run WHERE s.folded_seq <> r.last_seq),
    (SELECT count(*) FROM (SELECT run FROM run_summary ORDER BY run DESC LIMIT ?2) s LEFT JOIN run r ON r.key = s.run
        WHERE r.key IS NULL)
