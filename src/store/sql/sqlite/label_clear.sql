-- ?1 run, ?2 seq, -1 for all: its labels, when its summary was just folded up to there
DELETE FROM run_label WHERE run = ?1
    AND (?2 = -1 OR EXISTS (SELECT 1 FROM run_summary WHERE run = ?1 AND folded_seq = ?2))
