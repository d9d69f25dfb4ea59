-- As the guarded form, but one fence that does not hold ends the transaction (division by zero).
WITH held AS (
    UPDATE run r SET last_seq = u.last_seq, head = u.head, last_us = u.last_us, history_bytes = u.history_bytes,
        command_seq = u.command_seq, message_seq = u.message_seq, message_cursor = u.message_cursor, status = u.status,
        closed_reason = u.closed_reason, closed_us = u.closed_us,
        open_signals = u.open_signals, open_updates = u.open_updates
    FROM {bare key int, expected int, last_seq int, head blob, last_us int, history_bytes int, shard int, epoch int, commands int, command_seq int, message_seq int, message_cursor int, status int, closed_reason int, closed_us int, open_signals int, open_updates int}
    WHERE r.key = u.key AND r.last_seq = u.expected AND r.command_seq = u.commands
        AND (u.epoch IS NULL OR EXISTS (SELECT 1 FROM shard s WHERE s.number = u.shard AND s.epoch = u.epoch))
    RETURNING 1
)
SELECT 1 / (count(*) = {count})::int FROM held
