-- The fence. ?1 key, ?2 last_seq expected, ?3 last_seq, ?4 head, ?5 last_us, ?6 history_bytes, ?7 shard, ?8 epoch
-- (PostgreSQL only), ?9 command_seq expected, ?10 command_seq, ?11 message_seq, ?12 message_cursor, ?13 status,
-- ?14 closed_reason, ?15 closed_us, ?16 open_signals, ?17 open_updates.
-- Flag: the run was where the unit expected it.
UPDATE run SET last_seq = ?3, head = ?4, last_us = ?5, history_bytes = ?6, command_seq = ?10, message_seq = ?11,
    message_cursor = ?12, status = ?13, closed_reason = ?14, closed_us = ?15, open_signals = ?16,
    open_updates = ?17
WHERE key = ?1 AND last_seq = ?2 AND command_seq = ?9 AND ?7 IS ?7 AND ?8 IS ?8
