-- Takeovers (docs/internals/nodes.md). A shard that was taken from a node names it until its sessions have ended;
-- nothing of the shard is read before.
ALTER TABLE shard ADD COLUMN former BIGINT;

-- The sessions that write for a node. Each writes itself in before it does anything for it.
CREATE TABLE session (
    node BIGINT NOT NULL,
    kind BIGINT NOT NULL, -- 1: of the node's units, 2: of its lease
    pid BIGINT NOT NULL,
    started_us BIGINT NOT NULL, -- the backend; a process id alone comes again
    locks BIGINT NOT NULL, -- 1: each of its transactions holds session_lock.sql
    PRIMARY KEY (node, kind)
);
