-- As run_advance.
UPDATE run r SET last_seq = u.last_seq, head = u.head, last_us = u.last_us, history_bytes = u.history_bytes
FROM {bare key int, expected int, last_seq int, head blob, last_us int, history_bytes int, shard int, epoch int, commands int}
WHERE r.key = u.key AND r.last_seq = u.expected AND r.command_seq = u.commands
    AND (u.epoch IS NULL OR EXISTS (SELECT 1 FROM shard s WHERE s.number = u.shard AND s.epoch = u.epoch))
RETURNING u.row
