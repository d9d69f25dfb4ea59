-- only postgres
-- ?1 node, ?2 kind, ?3 1 when each of its transactions holds session_lock.sql: this session writes for the node from
-- now on. The one before it has ended: who connects anew sees to that.
INSERT INTO session (node, kind, pid, started_us, locks)
SELECT ?1, ?2, pid, (extract(epoch FROM backend_start) * 1000000)::bigint, ?3 FROM pg_stat_activity
WHERE pid = pg_backend_pid()
ON CONFLICT (node, kind) DO UPDATE SET pid = excluded.pid, started_us = excluded.started_us, locks = excluded.locks
