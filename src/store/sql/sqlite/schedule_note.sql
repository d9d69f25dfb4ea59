-- The same without a run, once the change itself is made. Flag: it is new.
INSERT INTO schedule_history (schedule, sequence, revision, type, recorded_us, run, slot_us, body)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM schedule s WHERE s.key = ?1 AND s.revision = ?3
ON CONFLICT (schedule, sequence) DO NOTHING
