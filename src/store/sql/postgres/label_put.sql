WITH put AS (
    INSERT INTO run_label (run, name, value)
    SELECT u.run, u.name, u.value
    FROM {bare run int, seq int, name text, value text}
        JOIN run_summary s ON s.run = u.run AND s.folded_seq = u.seq
    ON CONFLICT (run, name) DO NOTHING
    RETURNING run
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(run, row) WHERE k.run IN (SELECT run FROM put)
