-- I11. ?1 lowest, ?2 highest run key -> streams whose messages are not numbered 1 to the newest
SELECT m.instance AS instance, min(m.source_run) AS run, count(*) AS messages, max(m.seq) AS newest
FROM message m
GROUP BY m.instance, m.stream
HAVING (count(*) <> max(m.seq) OR min(m.seq) <> 1) AND max(m.source_run) >= ?1 AND min(m.source_run) <= ?2
