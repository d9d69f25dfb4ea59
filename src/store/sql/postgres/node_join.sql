-- only postgres
-- ?1 key, ?2 name, ?3 lease in microseconds: a node says that it is here. Those that were silent for a hundred leases
-- are forgotten; who took their shards wrote itself in.
WITH t AS (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us
), dead AS (
    DELETE FROM node WHERE key IN
        (SELECT n.key FROM node n, t WHERE n.lease_until_us < t.us - 100 * ?3 FOR UPDATE OF n SKIP LOCKED)
)
INSERT INTO node (key, name, started_us, lease_until_us)
SELECT ?1, ?2, t.us, t.us + ?3 FROM t
