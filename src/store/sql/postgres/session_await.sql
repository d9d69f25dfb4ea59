-- only postgres
-- ?1 node: waits until the transactions with its units that are under way have ended -> a row when they have, none when
-- they do not hold the lock or none of its sessions is known.
SELECT pg_advisory_xact_lock('session'::regclass::oid::int, hashint8(s.node)) IS NULL
FROM session s WHERE s.node = ?1 AND s.kind = 1 AND s.locks = 1
