-- ?1 run, ?2 folded, ?3 seq, ?4 namespace, ?5 print, ?6 step, ?7 source, ?8 name, ?9 type, ?10 message, ?11 handled,
-- ?12 at_us: a failure, when the summary was just folded up to ?2
INSERT INTO failure (run, seq, namespace, print, step, source, name, type, message, handled, at_us)
SELECT ?1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 FROM run_summary WHERE run = ?1 AND folded_seq = ?2
ON CONFLICT (run, seq) DO NOTHING
