WITH put AS (
    INSERT INTO preference (principal, surface, body, updated_us)
    SELECT DISTINCT ON (u.principal, u.surface) u.principal, u.surface, u.body, u.updated_us
    FROM {bare principal text, surface text, body text, updated_us int, most int}
    WHERE (SELECT count(*) FROM preference p WHERE p.principal = u.principal AND p.surface <> u.surface) < u.most
    ORDER BY u.principal, u.surface, u.row DESC
    ON CONFLICT (principal, surface) DO UPDATE SET body = excluded.body, updated_us = excluded.updated_us
    RETURNING principal, surface
)
SELECT k.row FROM unnest(?1::text[], ?2::text[]) WITH ORDINALITY AS k(principal, surface, row)
    JOIN put ON put.principal = k.principal AND put.surface = k.surface
