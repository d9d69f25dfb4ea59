WITH beat AS (
    INSERT INTO worker (name, queue, scope, host, process, build_id, supported, recorded_us, expires_us)
    SELECT DISTINCT ON (u.name, u.queue) u.name, u.queue, u.scope, u.host, u.process, u.build_id, u.supported,
        u.recorded_us, u.expires_us
    FROM {bare name text, queue text, scope text, host text, process int, build_id text, supported text, recorded_us int,
        expires_us int}
    ORDER BY u.name, u.queue, u.row DESC
    ON CONFLICT (name, queue) DO UPDATE SET scope = excluded.scope, host = excluded.host, process = excluded.process,
        build_id = excluded.build_id, supported = excluded.supported, recorded_us = excluded.recorded_us,
        expires_us = excluded.expires_us
    RETURNING name
)
SELECT k.row FROM unnest(?1::text[]) WITH ORDINALITY AS k(name, row) JOIN beat ON beat.name = k.name
