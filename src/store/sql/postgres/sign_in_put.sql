WITH put AS (
    INSERT INTO sign_in (digest, token, begun_us, seen_us, ended_us)
    SELECT DISTINCT ON (u.digest) u.digest, u.token, u.begun_us, u.seen_us, u.ended_us
    FROM {bare digest blob, token text, begun_us int, seen_us int, ended_us int}
    ORDER BY u.digest, u.ended_us NULLS LAST, u.seen_us DESC
    ON CONFLICT (digest) DO UPDATE SET seen_us = greatest(sign_in.seen_us, excluded.seen_us), ended_us = excluded.ended_us
    WHERE sign_in.ended_us IS NULL
    RETURNING digest
)
SELECT k.row FROM unnest(?1::bytea[]) WITH ORDINALITY AS k(digest, row) JOIN put ON put.digest = k.digest
