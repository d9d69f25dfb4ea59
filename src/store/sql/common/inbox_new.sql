INSERT INTO inbox {insert key int, run int, kind int, source_run int, created_us int, body blob}
