-- An event of a schedule's history, with the run that it started.
INSERT INTO schedule_history {insert schedule int, sequence int, revision int, type int, recorded_us int, run int, slot_us int, body blob}
