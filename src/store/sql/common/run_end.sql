-- ?1 namespace key, ?2 id -> of the instance's newest run: key, when it closed, and of a closed one the newest chunk.
-- One statement: all are of the same moment.
SELECT r.key, r.closed_us, h.body
FROM instance i JOIN run r ON r.key = i.current_run
    LEFT JOIN history h ON r.closed_us IS NOT NULL AND h.run = r.key
        AND h.first_seq = (SELECT max(x.first_seq) FROM history x WHERE x.run = r.key)
WHERE i.namespace = ?1 AND i.id = ?2
