-- ?1 namespace key, ?2 id -> the columns of instance_get, then those of run_get for its newest run, then that run's
-- definition and queue. One statement: both are of the same moment.
SELECT i.key, i.shard, i.type, i.business_key, i.current_run, i.run_count, i.created_us,
       r.instance, r.number, r.status, r.closed_reason, r.blocked, r.last_seq, r.head, r.last_us, r.history_bytes,
       r.command_seq, r.message_seq, r.message_cursor, r.crash_count, r.created_us, r.closed_us, r.archived_us,
       r.execution_deadline_us, r.run_deadline_us, i.shard, i.namespace, r.open_signals, r.open_updates,
       r.definition, r.queue
FROM instance i LEFT JOIN run r ON r.key = i.current_run AND r.instance = i.key WHERE i.namespace = ?1 AND i.id = ?2
