WITH made AS (
    INSERT INTO batch_item (batch, number, status, id, outcome, reason, message)
    SELECT u.batch, u.number, u.status, u.id, u.outcome, u.reason, u.message
    FROM {bare batch int, number int, status int, id text, outcome text, reason text, message text, epoch int}
        JOIN batch b ON b.key = u.batch AND b.epoch = u.epoch AND u.number < b.at
    ON CONFLICT (batch, number) DO NOTHING
    RETURNING batch, number
)
SELECT k.row FROM unnest(?1::bigint[], ?2::bigint[]) WITH ORDINALITY AS k(batch, number, row)
JOIN made ON made.batch = k.batch AND made.number = k.number
