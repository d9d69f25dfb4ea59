-- Slots under concurrency keys that are taken. ?1 namespace, ?2 now_us, ?3 how many -> key, number, owner,
-- lease_until_us, run, when it began, instance, type, queue; the last four are null when the run is gone
SELECT s.key, s.number, s.owner, s.lease_until_us, s.run, r.created_us, i.id, i.type, r.queue
FROM slot s LEFT JOIN run r ON r.key = s.run LEFT JOIN instance i ON i.key = r.instance
WHERE s.namespace = ?1 AND s.lease_until_us >= ?2 ORDER BY s.key, s.number LIMIT ?3
