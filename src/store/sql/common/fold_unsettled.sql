-- ?1 run key, ?2 how many at most -> runs after that key whose summary is behind their history, in order
SELECT s.run FROM run_summary s JOIN run r ON r.key = s.run
WHERE s.settled = 0 AND s.run > ?1 AND (s.folded_seq <> r.last_seq OR r.closed_us IS NOT NULL)
ORDER BY s.run LIMIT ?2
