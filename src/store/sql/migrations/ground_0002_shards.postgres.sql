-- Who runs what when several nodes share the store. A node renews its row; a shard names its owner and an epoch
-- that grows with each change of owner, and units of in-process work carry the epoch they were staged under.
CREATE TABLE node (
    key BIGINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    started_us BIGINT NOT NULL,
    lease_until_us BIGINT NOT NULL,
    serving BIGINT NOT NULL DEFAULT 1 -- 0: it has no code and no workers; others take its share while they have some
) WITH (fillfactor = 50);

CREATE TABLE shard (
    number BIGINT NOT NULL PRIMARY KEY,
    node BIGINT,
    epoch BIGINT NOT NULL
) WITH (fillfactor = 50);
INSERT INTO shard (number, node, epoch) SELECT n, NULL, 0 FROM generate_series(0, 255) AS n;
