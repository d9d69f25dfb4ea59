-- I40. ?1 lowest, ?2 highest run key -> slots under a concurrency key that nobody can have: numbered below zero, without
-- an owner, of a run that does not exist though the lease goes on, a second one of the same run, or one of another
-- namespace than the run's
SELECT s.run AS run, s.number AS slot
FROM slot s
WHERE ?1 < ?2 AND (s.number < 0 OR s.owner = ''
    OR (s.lease_until_us > (SELECT coalesce(max(n.last_us), 0) FROM run n)
        AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = s.run))
    OR EXISTS (SELECT 1 FROM run r JOIN instance i ON i.key = r.instance WHERE r.key = s.run AND i.namespace <> s.namespace)
    OR EXISTS (SELECT 1 FROM slot o WHERE o.namespace = s.namespace AND o.key = s.key AND o.run = s.run AND o.owner = s.owner AND o.number < s.number))
