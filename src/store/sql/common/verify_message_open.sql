-- I14. ?1 lowest, ?2 highest run key, ?3 signal, ?4 update -> runs that count their open messages wrongly
SELECT r.key AS run, r.open_signals AS signals, r.open_updates AS updates
FROM run r LEFT JOIN command c ON c.run = r.key AND c.message_seq IS NOT NULL AND c.closed_us IS NULL
WHERE r.key BETWEEN ?1 AND ?2
GROUP BY r.key, r.open_signals, r.open_updates
HAVING sum(CASE WHEN c.type = ?3 THEN 1 ELSE 0 END) <> r.open_signals
    OR sum(CASE WHEN c.type = ?4 THEN 1 ELSE 0 END) <> r.open_updates
