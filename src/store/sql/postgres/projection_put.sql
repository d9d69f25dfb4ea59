WITH put AS (
    INSERT INTO run_projection (run, version, seq, head, body)
    SELECT u.run, u.version, u.seq, u.head, u.body
    FROM {bare run int, version int, seq int, head blob, body blob} JOIN run r ON r.key = u.run
    ON CONFLICT (run) DO UPDATE SET version = excluded.version, seq = excluded.seq, head = excluded.head,
        body = excluded.body
    WHERE run_projection.seq < excluded.seq OR run_projection.version <> excluded.version
    RETURNING run
)
SELECT array_position(?1::bigint[], put.run)::bigint FROM put
