INSERT INTO timer {insert key int, run int, step int, kind int, status int, due_us int, created_us int, closed_us int}
