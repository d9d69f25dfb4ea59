DELETE FROM run_label t USING {bare run int, seq int}
WHERE t.run = u.run
    AND (u.seq = -1 OR EXISTS (SELECT 1 FROM run_summary s WHERE s.run = u.run AND s.folded_seq = u.seq))
RETURNING u.row
