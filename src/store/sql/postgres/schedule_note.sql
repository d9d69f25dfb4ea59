WITH made AS (
    INSERT INTO schedule_history (schedule, sequence, revision, type, recorded_us, run, slot_us, body)
    SELECT u.schedule, u.sequence, u.revision, u.type, u.recorded_us, u.run, u.slot_us, u.body
    FROM {bare schedule int, sequence int, revision int, type int, recorded_us int, run int, slot_us int, body blob}
    JOIN schedule s ON s.key = u.schedule AND s.revision = u.revision
    ON CONFLICT (schedule, sequence) DO NOTHING
    RETURNING schedule, sequence
)
SELECT k.row FROM unnest(?1::bigint[], ?2::bigint[]) WITH ORDINALITY AS k(schedule, sequence, row)
JOIN made ON made.schedule = k.schedule AND made.sequence = k.sequence
