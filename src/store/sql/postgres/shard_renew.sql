-- only postgres
-- ?1 node key, ?2 lease in microseconds, ?3 microseconds after which work that waits was overlooked,
-- ?4 name, ?5 1 when there is somebody at the node to do its work. In one statement:
-- renew the node, take free or orphaned shards up to a fair share, give back what is over it -> number, epoch of every
-- shard the node owns now, whether work waits there, the database's time; without shards one row
-- with the time alone. What waits is looked up once, and the shard of each by its key: for each shard anew, or by a
-- join that the planner may turn around to read every run there is, a long backlog would take longer than the lease.
WITH t AS (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us
), me AS (
    INSERT INTO node (key, name, started_us, lease_until_us, serving) SELECT ?1, ?4, t.us, t.us + ?2, ?5 FROM t
    ON CONFLICT (key) DO UPDATE SET lease_until_us = excluded.lease_until_us, serving = excluded.serving RETURNING key
), others AS (
    SELECT count(*) AS nodes, coalesce(sum(serving), 0)::bigint AS serving
    FROM node, t WHERE node.lease_until_us > t.us AND node.key <> ?1
), live AS (
    SELECT 1 + CASE WHEN ?5 = 1 THEN serving ELSE nodes END AS nodes, ?5 = 0 AND serving > 0 AS idle FROM others
), share AS (
    SELECT CASE WHEN idle THEN 0 ELSE (256 + nodes - 1) / nodes END AS most FROM live
), mine AS (
    SELECT number, epoch, row_number() OVER (ORDER BY number) AS place FROM shard WHERE node = ?1
), dropped AS (
    UPDATE shard SET node = NULL FROM mine, share
    WHERE shard.number = mine.number AND mine.place > share.most RETURNING shard.number
), loose AS (
    SELECT s.number FROM shard s, share, t
    WHERE (s.node IS NULL OR NOT EXISTS (SELECT 1 FROM node n WHERE n.key = s.node AND n.lease_until_us > t.us))
        AND s.node IS DISTINCT FROM ?1
    ORDER BY s.number
    LIMIT greatest((SELECT most FROM share) - (SELECT count(*) FROM mine), 0)
    FOR UPDATE OF s SKIP LOCKED
), taken AS (
    UPDATE shard SET node = ?1, epoch = shard.epoch + 1 FROM loose, me
    WHERE shard.number = loose.number RETURNING shard.number, shard.epoch
), own AS (
    SELECT number, epoch FROM taken
    UNION ALL
    SELECT mine.number, mine.epoch FROM mine, me, share WHERE mine.place <= share.most
), waiting AS (
    SELECT run FROM (SELECT run FROM task, t WHERE kind = 1 AND status = 1 AND created_us < t.us - ?3 LIMIT 1000) a
    UNION
    SELECT run FROM (SELECT run FROM inbox, t WHERE created_us < t.us - ?3 LIMIT 1000) b
), overdue AS MATERIALIZED (
    SELECT DISTINCT (SELECT i.shard FROM run r JOIN instance i ON i.key = r.instance WHERE r.key = w.run) AS shard
    FROM waiting w
)
SELECT own.number, own.epoch, (o.shard IS NOT NULL)::int, t.us
FROM t LEFT JOIN own ON true LEFT JOIN overdue o ON o.shard = own.number
