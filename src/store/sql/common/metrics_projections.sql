-- ?1 version of the fold -> runs, summaries, runs without one, summaries without a run, summaries behind their history,
-- of another version, logs, logs of another version, closed runs without a log, when the oldest run without a summary
-- began, logs of closed runs that are behind, logs without a run, open runs that wait for something
SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM run_summary),
    (SELECT count(*) FROM run r LEFT JOIN run_summary s ON s.run = r.key WHERE s.run IS NULL),
    (SELECT count(*) FROM run_summary s LEFT JOIN run r ON r.key = s.run WHERE r.key IS NULL),
    (SELECT count(*) FROM run_summary s JOIN run r ON r.key = s.run WHERE s.settled = 0 AND s.folded_seq <> r.last_seq),
    (SELECT count(*) FROM run_summary s WHERE s.folded_seq > 0 AND s.version <> ?1),
    (SELECT count(*) FROM run_projection), (SELECT count(*) FROM run_projection p WHERE p.version <> ?1),
    (SELECT count(*) FROM run_summary s LEFT JOIN run_projection p ON p.run = s.run
        WHERE s.settled = 1 AND p.run IS NULL),
    (SELECT min(r.created_us) FROM run r LEFT JOIN run_summary s ON s.run = r.key WHERE s.run IS NULL),
    (SELECT count(*) FROM run_summary s JOIN run_projection p ON p.run = s.run JOIN run r ON r.key = s.run
        WHERE s.settled = 1 AND p.seq <> r.last_seq),
    (SELECT count(*) FROM run_projection p LEFT JOIN run r ON r.key = p.run WHERE r.key IS NULL),
    (SELECT count(*) FROM run_summary s WHERE s.settled = 0 AND s.ended = 0 AND s.wait_kind IS NOT NULL)
