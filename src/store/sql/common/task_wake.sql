-- The run wants a turn of its code; nothing when that is known already.
INSERT INTO task {insert key int, run int, kind int, status int, queue text, priority int, available_us int, epoch int,
token blob, owner text, lease_until_us int, attempt int, repair_count int, source_kind int, source_key int,
created_us int, body blob}
ON CONFLICT (run, (CASE kind WHEN 1 THEN 0 ELSE key END)) DO NOTHING
