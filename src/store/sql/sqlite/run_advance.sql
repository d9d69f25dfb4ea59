-- The fence. ?1 key, ?2 last_seq expected, ?3 last_seq, ?4 head, ?5 last_us, ?6 history_bytes, ?7 command_seq,
-- ?8 message_seq, ?9 message_cursor, ?10 status, ?11 closed_reason, ?12 closed_us, ?13 shard, ?14 epoch (PostgreSQL only), ?15 command_seq expected,
-- ?16 open_signals, ?17 open_updates.
-- Flag: the run was where the unit expected it.
UPDATE run SET last_seq = ?3, head = ?4, last_us = ?5, history_bytes = ?6, command_seq = ?7, message_seq = ?8,
    message_cursor = ?9, status = ?10, closed_reason = ?11, closed_us = ?12, open_signals = ?16,
    open_updates = ?17
WHERE key = ?1 AND last_seq = ?2 AND command_seq = ?15 AND ?13 IS ?13 AND ?14 IS ?14
