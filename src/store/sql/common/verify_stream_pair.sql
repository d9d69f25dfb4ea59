-- I40. ?1 lowest, ?2 highest run key -> messages of no instance, and those that arrived without having been sent, or were
-- handed over and did not arrive, while whoever is at the other end is there
SELECT m.key AS message, m.instance AS instance, m.source_run AS run, m.seq AS number
FROM message m LEFT JOIN instance i ON i.key = m.instance
    LEFT JOIN message o ON o.source_run = m.source_run AND o.ordinal = m.ordinal AND o.direction = 3 - m.direction
WHERE m.source_run BETWEEN ?1 AND ?2
    AND (i.key IS NULL OR (m.direction = 2 AND m.state = 3 AND o.key IS NOT NULL)
        OR (m.direction = 1 AND o.key IS NULL AND EXISTS (SELECT 1 FROM run r WHERE r.key = m.source_run))
        OR (m.direction = 2 AND m.state <> 3 AND o.key IS NULL AND EXISTS (SELECT 1 FROM instance p
            WHERE p.namespace = i.namespace AND p.id = m.peer AND p.created_us <= m.created_us)))
