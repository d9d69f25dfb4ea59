-- I11. ?1 lowest, ?2 highest run key -> instances whose messages are not numbered 1 to the newest number given
SELECT i.key AS instance, i.current_run AS run, count(c.message_seq) AS messages,
    coalesce(max(c.message_seq), 0) AS newest, r.message_seq AS given
FROM instance i JOIN run r ON r.key = i.current_run
    LEFT JOIN command c ON c.instance = i.key AND c.message_seq IS NOT NULL
WHERE i.current_run BETWEEN ?1 AND ?2
GROUP BY i.key, i.current_run, r.message_seq
HAVING count(c.message_seq) <> r.message_seq OR coalesce(max(c.message_seq), 0) <> r.message_seq
    OR coalesce(min(c.message_seq), 1) <> 1
