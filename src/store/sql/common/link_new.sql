INSERT INTO link {insert key int, kind int, parent_run int, step int, child_instance int, child_run int, policy int,
created_us int, call int, call_us int, attempt int, max_attempts int}
