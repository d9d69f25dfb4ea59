-- A definition that retention removed since the unit was drafted counts as not known.
INSERT INTO run (key, instance, number, status, last_seq, head, last_us, history_bytes, command_seq, message_seq,
    message_cursor, created_us, execution_deadline_us, run_deadline_us, queue, definition,
    open_signals, open_updates, closed_reason, closed_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
    (SELECT key FROM definition WHERE key = ?16), ?17, ?18, ?19, ?20)
