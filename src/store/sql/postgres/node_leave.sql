-- only postgres
-- ?1 key: gives the node's shards free at once, then forgets the node and its sessions. On the session of its units,
-- behind the last of them. Epochs move with the next owner.
WITH freed AS (UPDATE shard SET node = NULL WHERE node = ?1), ended AS (DELETE FROM session WHERE node = ?1)
DELETE FROM node WHERE key = ?1
