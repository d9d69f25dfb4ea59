-- Signals and updates of a run that are not dealt with. ?1 run -> key, type, scope, message_seq, name, recorded_us
SELECT key, type, scope, message_seq, name, recorded_us FROM command
WHERE run = ?1 AND message_seq IS NOT NULL AND closed_us IS NULL
ORDER BY command_seq
