-- only postgres
-- ?1 node: held to the end of a transaction with the node's units, before the first of them. Who takes shards of the
-- node and cannot end its sessions waits for it (session_await).
SELECT pg_advisory_xact_lock_shared('session'::regclass::oid::int, hashint8(u.node)) FROM {bare node int}
