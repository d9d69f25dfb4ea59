-- ?1 namespace -> of its open runs: current, waiting, replay blocked, quarantined, oldest start of a blocked one, oldest
-- newest event of a waiting one, pending ones, oldest start of a pending one, those that recorded no contract
SELECT sum(CASE WHEN i.current_run = r.key THEN 1 ELSE 0 END), sum(CASE WHEN r.status = 3 THEN 1 ELSE 0 END),
    sum(CASE WHEN r.blocked = 1 THEN 1 ELSE 0 END), sum(CASE WHEN r.blocked = 2 THEN 1 ELSE 0 END),
    min(CASE WHEN r.blocked = 1 THEN r.created_us END), min(CASE WHEN r.status = 3 THEN r.last_us END),
    sum(CASE WHEN r.status = 1 THEN 1 ELSE 0 END), min(CASE WHEN r.status = 1 THEN r.created_us END),
    sum(CASE WHEN s.declared = 0 AND s.folded_seq > 0 THEN 1 ELSE 0 END)
FROM run_summary s JOIN run r ON r.key = s.run JOIN instance i ON i.key = r.instance
WHERE s.namespace = ?1 AND s.ended = 0
