-- A command that changes nothing but the run's counter of commands.
INSERT INTO command {insert key int, instance int, run int, type int, status int, outcome int, rejection int, scope int,
source int, command_seq int, message_seq int, name text, state int, recorded_us int, applied_us int, closed_us int, body blob}
