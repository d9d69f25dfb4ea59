-- ?1 namespace -> bytes of its histories and of the payloads beside them, before compression
SELECT CAST(coalesce(sum(r.history_bytes), 0) + coalesce(sum((SELECT sum(p.size) FROM payload p WHERE p.run = r.key)), 0) AS {int})
FROM instance i JOIN run r ON r.instance = i.key
WHERE i.namespace = ?1
