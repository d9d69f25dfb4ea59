-- ?1 run key, ?2 first_seq -> hash of the chunk that begins there
SELECT hash FROM history WHERE run = ?1 AND first_seq = ?2
