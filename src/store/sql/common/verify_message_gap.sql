-- I11. ?1 lowest, ?2 highest run key -> instances whose messages are not numbered 1 to the newest number given; some may
-- have gone with old runs, and the instance knows how many
SELECT i.key AS instance, i.current_run AS run, count(c.message_seq) AS messages,
    coalesce(max(c.message_seq), 0) AS newest, r.message_seq AS given
FROM instance i JOIN run r ON r.key = i.current_run
    LEFT JOIN command c ON c.instance = i.key AND c.message_seq IS NOT NULL
WHERE i.current_run BETWEEN ?1 AND ?2
GROUP BY i.key, i.current_run, i.retired_messages, r.message_seq
HAVING count(c.message_seq) + i.retired_messages <> r.message_seq
    OR coalesce(max(c.message_seq), 0) > r.message_seq OR coalesce(min(c.message_seq), 1) < 1
    OR (i.retired_messages = 0
        AND (coalesce(max(c.message_seq), 0) <> r.message_seq OR coalesce(min(c.message_seq), 1) <> 1))
