-- ?1 run key, ?2 first sequence wanted, ?3 how many chunks at most -> chunks from the one that holds it, in order
SELECT first_seq, count, format, body, hash, position FROM history
WHERE run = ?1 AND first_seq >= (SELECT coalesce(max(first_seq), 0) FROM history WHERE run = ?1 AND first_seq <= ?2)
ORDER BY first_seq LIMIT ?3
