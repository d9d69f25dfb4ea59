-- The streams are held (message_hold), so that the numbers read here are the newest until the commit.
INSERT INTO message (key, instance, stream, seq, direction, state, peer, source_run, ordinal, reference, created_us)
SELECT s.key, s.instance, s.stream,
    s.newest + row_number() OVER (PARTITION BY s.instance, s.stream ORDER BY s.key), s.direction, s.state, s.peer,
    s.source_run, s.ordinal, s.reference, s.created_us
FROM (
    SELECT u.key, i.key AS instance, u.stream, u.direction, u.peer, u.source_run, u.ordinal, u.reference, u.created_us,
        coalesce((SELECT max(m.seq) FROM message m WHERE m.instance = i.key AND m.stream = u.stream), 0) AS newest,
        CASE WHEN u.direction = 1 THEN 1
            WHEN EXISTS (SELECT 1 FROM instance t WHERE t.namespace = u.namespace AND t.id = u.peer) THEN 2
            ELSE 3 END AS state
    FROM {rows key int, namespace int, id text, stream text, direction int, peer text, source_run int, ordinal int, reference text, created_us int}
        JOIN instance i ON i.namespace = u.namespace AND i.id = u.id
    WHERE NOT EXISTS (SELECT 1 FROM message d WHERE d.source_run = u.source_run AND d.ordinal = u.ordinal
        AND d.direction = u.direction)
) s
