-- ?1 run, ?2 type -> key, recorded_us and command_seq of its newest message that is not dealt with
SELECT key, recorded_us, command_seq FROM command
WHERE run = ?1 AND type = ?2 AND message_seq IS NOT NULL AND closed_us IS NULL
ORDER BY command_seq DESC LIMIT 1
