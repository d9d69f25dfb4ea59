-- The fence of a unit that changes neither status nor counters. Parameters: the first nine of run_advance.
-- Flag: the run was where the unit expected it.
UPDATE run SET last_seq = ?3, head = ?4, last_us = ?5, history_bytes = ?6
WHERE key = ?1 AND last_seq = ?2 AND command_seq = ?9 AND ?7 IS ?7 AND ?8 IS ?8
