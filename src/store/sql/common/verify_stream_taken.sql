-- I17. ?1 lowest, ?2 highest run key -> messages that arrived and whose state and reader contradict each other, or that were
-- read while an older one of the stream was not
SELECT m.key AS message, m.instance AS instance, m.source_run AS run, m.seq AS number
FROM message m LEFT JOIN run r ON r.key = m.taken_run
WHERE m.source_run BETWEEN ?1 AND ?2 AND m.direction = 1
    AND (r.instance <> m.instance
        OR CASE m.state WHEN 2 THEN m.taken_run IS NULL OR m.taken_step IS NULL
            ELSE m.taken_run IS NOT NULL OR m.taken_step IS NOT NULL END
        OR (m.state = 1 AND EXISTS (SELECT 1 FROM message n WHERE n.instance = m.instance AND n.stream = m.stream
            AND n.seq > m.seq AND n.direction = 1 AND n.state = 2)))
