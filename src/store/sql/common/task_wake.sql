-- The run wants a turn of its code; nothing when that is known already.
INSERT INTO task {insert key int, run int, kind int, status int, queue text, priority int, available_us int,
created_us int}
ON CONFLICT (run, (CASE kind WHEN 1 THEN 0 ELSE key END)) DO NOTHING
