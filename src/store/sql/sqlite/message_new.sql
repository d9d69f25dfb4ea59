-- One side of a message: the stream of the instance ?3 gets its next number. ?1 key, ?2 namespace, ?4 stream, ?5 direction
-- (1 to the instance, 2 from it), ?6 the instance at the other end, ?7 run that sent it, ?8 as its nth, ?9 reference,
-- ?10 created_us. What came before with the same run and number is the same message. Nothing where the instance does not
-- exist; what was sent to nobody has failed (3), what was handed over is done with for the sender (2).
INSERT INTO message (key, instance, stream, seq, direction, state, peer, source_run, ordinal, reference, created_us)
SELECT ?1, i.key, ?4, coalesce((SELECT max(m.seq) FROM message m WHERE m.instance = i.key AND m.stream = ?4), 0) + 1, ?5,
    CASE WHEN ?5 = 1 THEN 1 WHEN EXISTS (SELECT 1 FROM instance t WHERE t.namespace = ?2 AND t.id = ?6) THEN 2 ELSE 3 END,
    ?6, ?7, ?8, ?9, ?10
FROM instance i
WHERE i.namespace = ?2 AND i.id = ?3
    AND NOT EXISTS (SELECT 1 FROM message d WHERE d.source_run = ?7 AND d.ordinal = ?8 AND d.direction = ?5)
