-- only postgres
-- ?1 key: gives the node's shards free at once, then forgets the node. Epochs move with the next owner.
WITH freed AS (UPDATE shard SET node = NULL WHERE node = ?1)
DELETE FROM node WHERE key = ?1
