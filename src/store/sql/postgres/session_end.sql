-- only postgres
-- ?1 node, or null for the leases of all that are silent; ?2 how many milliseconds to wait for each: ends the sessions
-- -> how many are still there, and how many may be and cannot be told by this role. Fails where the right to end them
-- is missing.
WITH t AS (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us
), found AS MATERIALIZED (
    SELECT a.pid, a.backend_start IS NULL AS hidden
    FROM session s JOIN pg_stat_activity a ON a.pid = s.pid, t
    WHERE (s.node = ?1 OR (?1 IS NULL AND s.kind = 2
            AND NOT EXISTS (SELECT 1 FROM node n WHERE n.key = s.node AND n.lease_until_us > t.us)))
        AND (a.backend_start IS NULL OR (extract(epoch FROM a.backend_start) * 1000000)::bigint = s.started_us)
)
SELECT count(*) FILTER (WHERE CASE WHEN hidden THEN true ELSE NOT pg_terminate_backend(pid, ?2) END),
    count(*) FILTER (WHERE hidden)
FROM found
