-- The instance row proves that the unit's guard held: it names this run as the current one.
INSERT INTO run (key, instance, number, status, last_seq, head, last_us, history_bytes, command_seq, message_seq,
    message_cursor, created_us, execution_deadline_us, run_deadline_us, queue, definition,
    open_signals, open_updates, closed_reason, closed_us)
SELECT u.key, u.instance, u.number, u.status, u.last_seq, u.head, u.last_us, u.history_bytes, u.command_seq,
    u.message_seq, u.message_cursor, u.created_us, u.execution_deadline_us, u.run_deadline_us,
    u.queue, u.definition, u.open_signals, u.open_updates, u.closed_reason, u.closed_us
FROM {bare key int, instance int, number int, status int, last_seq int, head blob, last_us int, history_bytes int, command_seq int, message_seq int, message_cursor int, created_us int, execution_deadline_us int, run_deadline_us int, queue text, definition int, open_signals int, open_updates int, closed_reason int, closed_us int}
JOIN instance i ON i.key = u.instance AND i.current_run = u.key
