-- ?1 run -> its fold: version, seq, head, body
SELECT version, seq, head, body FROM run_projection WHERE run = ?1
