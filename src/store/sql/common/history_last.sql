-- ?1 run -> the newest chunk: first_seq, count, body
SELECT first_seq, count, body FROM history WHERE run = ?1 ORDER BY first_seq DESC LIMIT 1
