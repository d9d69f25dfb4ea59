-- ?1 run key -> the run row with the shard of its instance
SELECT r.instance, r.number, r.status, r.closed_reason, r.blocked, r.last_seq, r.head, r.last_us, r.history_bytes,
       r.command_seq, r.message_seq, r.message_cursor, r.crash_count, r.created_us, r.closed_us, r.archived_us,
       r.execution_deadline_us, r.run_deadline_us, i.shard, i.namespace, r.open_signals, r.open_updates
FROM run r JOIN instance i ON i.key = r.instance
WHERE r.key = ?1
