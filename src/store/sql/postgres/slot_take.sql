WITH taken AS (
    INSERT INTO slot (namespace, key, number, run, owner, lease_until_us)
    SELECT u.namespace, u.key, n.number, u.run, u.owner, u.lease_until_us
    FROM {bare key text, most int, run int, owner text, lease_until_us int, now_us int, namespace int}
        CROSS JOIN LATERAL (SELECT min(c.number) AS number
            FROM (SELECT 0 AS number UNION ALL SELECT o.number + 1 FROM slot o
                WHERE o.namespace = u.namespace AND o.key = u.key) c
            WHERE NOT EXISTS (SELECT 1 FROM slot s
                WHERE s.namespace = u.namespace AND s.key = u.key AND s.number = c.number AND s.lease_until_us >= u.now_us)) n
    WHERE n.number < u.most
    ON CONFLICT (namespace, key, number) DO UPDATE SET run = excluded.run, owner = excluded.owner,
        lease_until_us = excluded.lease_until_us
    WHERE slot.lease_until_us < excluded.lease_until_us - 10000000
    RETURNING key, run
)
SELECT k.row FROM unnest(?1::text[], ?3::bigint[]) WITH ORDINALITY AS k(key, run, row)
    JOIN taken ON taken.key = k.key AND taken.run = k.run
