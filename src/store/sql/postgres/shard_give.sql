-- only postgres
-- ?1 node, ?2 number: gives back the node's shards from this number on. None of its units for them is under way.
UPDATE shard SET node = NULL WHERE node = ?1 AND number >= ?2
