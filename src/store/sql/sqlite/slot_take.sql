-- ?1 key, ?2 how many there are, ?3 run, ?4 owner, ?5 lease_until_us, ?6 now_us, ?7 namespace. Flag: the run has the
-- lowest slot that is free or whose lease is over.
INSERT INTO slot (namespace, key, number, run, owner, lease_until_us)
SELECT ?7, ?1, n.number, ?3, ?4, ?5 FROM (
    SELECT min(c.number) AS number
    FROM (SELECT 0 AS number UNION ALL SELECT number + 1 FROM slot WHERE namespace = ?7 AND key = ?1) c
    WHERE NOT EXISTS (SELECT 1 FROM slot s 
        WHERE s.namespace = ?7 AND s.key = ?1 AND s.number = c.number AND s.lease_until_us >= ?6)) n
WHERE n.number < ?2
ON CONFLICT (namespace, key, number) DO UPDATE SET run = excluded.run, owner = excluded.owner,
    lease_until_us = excluded.lease_until_us
WHERE slot.lease_until_us < ?6
