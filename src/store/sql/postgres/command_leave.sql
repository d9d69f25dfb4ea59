WITH made AS (
    INSERT INTO command (key, instance, run, type, status, outcome, rejection, scope, source, command_seq, message_seq, name, state, recorded_us, applied_us, closed_us, body)
    SELECT u.key, u.instance, u.run, u.type, u.status, u.outcome, u.rejection, u.scope, u.source, u.command_seq, u.message_seq, u.name, u.state, u.recorded_us, u.applied_us, u.closed_us, u.body
    FROM {bare key int, instance int, run int, type int, status int, outcome int, rejection int, scope int, source int, command_seq int, message_seq int, name text, state int, recorded_us int, applied_us int, closed_us int, body blob}
    ON CONFLICT (key) DO NOTHING
    RETURNING key
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(key, row) JOIN made ON made.key = k.key
