-- only postgres
-- ?1 node key, ?2 lease in microseconds, ?3 by the time of the nodes: work that waits since before then was overlooked,
-- ?4 name, ?5 1 when there is somebody at the node to do its work, ?6 what this clock should say (null: not known), ?7 1
-- when it has said so for a lease. In one statement:
-- renew the node, take free or orphaned shards up to a fair share -> number, epoch of every shard the node owns now,
-- whether work waits there, the database's time, whose sessions must end before the shard is read, whether it is over
-- the share and to be given back (shard_give); then of all: whether shards that nobody has are locked by somebody,
-- whether a role may write to the store that cannot end this one's sessions, ground and projection version, whether the
-- clock is half a lease or more away from what it should say; without shards one row with these alone. Nobody's silence
-- counts while it is, and for a lease after: until then all that live have renewed. A lease that has ten leases to go was
-- written before the clock was set back. What waits is looked up once, and the shard of each by its key: for each shard
-- anew, or by a join that the planner may turn around to read every run there is, a long backlog would take longer than
-- the lease.
WITH told AS (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us
), t AS (
    SELECT us, us + 10 * ?2 AS latest, coalesce(abs(us - ?6) * 2 > ?2, false) AS uneven FROM told
), alive AS (
    SELECT n.key, n.serving FROM node n, t WHERE n.lease_until_us > t.us AND n.lease_until_us <= t.latest
), me AS (
    INSERT INTO node (key, name, started_us, lease_until_us, serving) SELECT ?1, ?4, t.us, t.us + ?2, ?5 FROM t
    ON CONFLICT (key) DO UPDATE SET lease_until_us = excluded.lease_until_us, serving = excluded.serving RETURNING key
), others AS (
    SELECT count(*) AS nodes, coalesce(sum(serving), 0)::bigint AS serving
    FROM alive WHERE key <> ?1
), live AS (
    SELECT 1 + CASE WHEN ?5 = 1 THEN serving ELSE nodes END AS nodes, ?5 = 0 AND serving > 0 AS idle FROM others
), share AS (
    SELECT CASE WHEN idle THEN 0 ELSE (256 + nodes - 1) / nodes END AS most FROM live
), mine AS (
    SELECT number, epoch, former, row_number() OVER (ORDER BY number) AS place FROM shard WHERE node = ?1
), room AS (
    SELECT greatest((SELECT most FROM share) - (SELECT count(*) FROM mine), 0) AS most
), loose AS (
    SELECT s.number FROM shard s, t
    WHERE (s.node IS NULL OR (?7 = 1 AND NOT t.uneven AND s.node NOT IN (SELECT key FROM alive)))
        AND s.node IS DISTINCT FROM ?1
    ORDER BY s.number
    LIMIT (SELECT most FROM room)
    FOR UPDATE OF s SKIP LOCKED
), taken AS (
    UPDATE shard SET node = ?1, epoch = shard.epoch + 1, former = coalesce(shard.former, shard.node) FROM loose, me
    WHERE shard.number = loose.number RETURNING shard.number, shard.epoch, shard.former
), stuck AS (
    SELECT ((SELECT count(*) FROM shard s, t
        WHERE (s.node IS NULL OR (?7 = 1 AND NOT t.uneven AND s.node NOT IN (SELECT key FROM alive)))
            AND s.node IS DISTINCT FROM ?1) > (SELECT count(*) FROM taken)
        AND (SELECT count(*) FROM taken) < (SELECT most FROM room))::int AS some
), own AS (
    SELECT number, epoch, former, 0 AS over FROM taken
    UNION ALL
    SELECT mine.number, mine.epoch, mine.former, (mine.place > share.most)::int FROM mine, me, share
), strange AS (
    SELECT count(*) AS some FROM pg_roles r, pg_roles me
    WHERE me.rolname = session_user AND r.oid <> me.oid AND NOT r.rolsuper
        AND (me.rolsuper OR NOT pg_has_role(r.oid, me.oid, 'USAGE'))
        AND (me.rolsuper OR NOT pg_has_role(r.oid, 'pg_signal_backend', 'USAGE')
            OR NOT pg_has_role(r.oid, 'pg_read_all_stats', 'USAGE'))
        AND r.rolcanlogin AND has_table_privilege(r.oid, 'shard', 'UPDATE')
), waiting AS (
    SELECT run FROM (SELECT run FROM task WHERE kind = 1 AND status = 1 AND created_us < ?3 LIMIT 1000) a
    UNION
    SELECT run FROM (SELECT run FROM inbox WHERE created_us < ?3 LIMIT 1000) b
), overdue AS MATERIALIZED (
    SELECT DISTINCT (SELECT i.shard FROM run r JOIN instance i ON i.key = r.instance WHERE r.key = w.run) AS shard
    FROM waiting w
)
SELECT own.number, own.epoch, (o.shard IS NOT NULL)::int, t.us, own.former, own.over, stuck.some,
    (strange.some > 0)::int, (SELECT value FROM meta WHERE name = 'ground_version')::bigint,
    (SELECT value FROM meta WHERE name = 'projection_version')::bigint,
    t.uneven::int
FROM t CROSS JOIN stuck CROSS JOIN strange LEFT JOIN own ON true LEFT JOIN overdue o ON o.shard = own.number
