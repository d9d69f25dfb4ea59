WITH put AS (
    INSERT INTO search_attribute (run, name, item, type, text, number, real)
    SELECT u.run, u.name, u.item, u.type, u.text, u.number, u.real
    FROM {bare run int, seq int, name text, item int, type int, text text, number int, real real}
        JOIN run_summary s ON s.run = u.run AND s.folded_seq = u.seq
    ON CONFLICT (run, name, item) DO NOTHING
    RETURNING run
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(run, row) WHERE k.run IN (SELECT run FROM put)
