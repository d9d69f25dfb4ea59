-- What became of the items of a batch so far. ?1 batch -> number, status, id, outcome, reason, message
SELECT number, status, id, outcome, reason, message FROM batch_item WHERE batch = ?1 ORDER BY number
