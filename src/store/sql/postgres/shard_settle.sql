-- only postgres
-- ?1 node, ?2 former node: its sessions have ended, so that what is read of the shards taken from it stays true.
UPDATE shard SET former = NULL WHERE node = ?1 AND former = ?2
