-- ?1 run -> its commands in the order they were numbered: key, type, status, outcome, rejection, scope, source,
-- command_seq, message_seq, name, recorded_us, applied_us, closed_us, body
SELECT key, type, status, outcome, rejection, scope, source, command_seq, message_seq, name, recorded_us, applied_us,
       closed_us, body
FROM command WHERE run = ?1 ORDER BY command_seq, key
