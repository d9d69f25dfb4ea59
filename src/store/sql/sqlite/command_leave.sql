-- A command to an instance without a run. Flag: it is new.
INSERT INTO command (key, instance, run, type, status, outcome, rejection, scope, source, command_seq, message_seq, name, state, recorded_us, applied_us, closed_us, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) ON CONFLICT (key) DO NOTHING
