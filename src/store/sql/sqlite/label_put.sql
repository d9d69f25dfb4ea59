-- ?1 run, ?2 seq, ?3 name, ?4 value: a label, when the summary was just folded up to seq
INSERT INTO run_label (run, name, value)
SELECT ?1, ?3, ?4 FROM run_summary WHERE run = ?1 AND folded_seq = ?2
ON CONFLICT (run, name) DO NOTHING
