-- Open runs that wait for a signal, the newest first. ?1 namespace, ?2 one run, whatever it waits for (0: all), ?3 sort_us,
-- ?4 run: those behind it, ?5 how many -> run, created_us, instance id, type, business_key, definition, sort_us
SELECT s.run, r.created_us, i.id, s.type, s.business_key, r.definition, s.sort_us
FROM run_summary s JOIN run r ON r.key = s.run JOIN instance i ON i.key = s.instance
WHERE s.namespace = ?1 AND s.ended = 0 AND ((?2 = 0 AND s.open_signals > 0) OR s.run = ?2)
    AND (s.sort_us < ?3 OR (s.sort_us = ?3 AND s.run < ?4))
ORDER BY s.sort_us DESC, s.run DESC LIMIT ?5
