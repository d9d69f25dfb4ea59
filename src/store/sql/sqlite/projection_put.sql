-- ?1 run, ?2 version, ?3 seq, ?4 head, ?5 body: a fold that knows more than the one that is there, or is of another
-- version. Flag: it does.
INSERT INTO run_projection (run, version, seq, head, body)
SELECT ?1, ?2, ?3, ?4, ?5 FROM run WHERE key = ?1
ON CONFLICT (run) DO UPDATE SET version = excluded.version, seq = excluded.seq, head = excluded.head,
    body = excluded.body
WHERE run_projection.seq < excluded.seq OR run_projection.version <> excluded.version
