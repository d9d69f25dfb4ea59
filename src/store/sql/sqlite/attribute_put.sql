-- ?1 run, ?2 seq, ?3 name, ?4 item, ?5 type, ?6 text, ?7 number, ?8 real: a search attribute, when the summary was
-- just folded up to seq
INSERT INTO search_attribute (run, name, item, type, text, number, real)
SELECT ?1, ?3, ?4, ?5, ?6, ?7, ?8 FROM run_summary WHERE run = ?1 AND folded_seq = ?2
ON CONFLICT (run, name, item) DO NOTHING
