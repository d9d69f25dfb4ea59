INSERT INTO history {insert position int, run int, first_seq int, count int, format int, body blob, hash blob}
