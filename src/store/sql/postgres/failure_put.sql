WITH put AS (
    INSERT INTO failure (run, seq, namespace, print, step, source, name, type, message, handled, at_us)
    SELECT u.run, u.seq, u.namespace, u.print, u.step, u.source, u.name, u.type, u.message, u.handled, u.at_us
    FROM {bare run int, folded int, seq int, namespace int, print text, step int, source int, name text, type text, message text, handled int, at_us int}
        JOIN run_summary s ON s.run = u.run AND s.folded_seq = u.folded
    ON CONFLICT (run, seq) DO NOTHING
    RETURNING run
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(run, row) WHERE k.run IN (SELECT run FROM put)
