-- ?1 run key, ?2 how many at most -> runs after that key, in order: key, last_seq, folded_seq (null: no summary)
SELECT r.key, r.last_seq, s.folded_seq FROM run r LEFT JOIN run_summary s ON s.run = r.key
WHERE r.key > ?1 ORDER BY r.key LIMIT ?2
