-- ?1 principal, ?2 surface, ?3 body, ?4 updated_us, ?5 how many a principal may have. Flag: it is kept.
INSERT INTO preference (principal, surface, body, updated_us)
SELECT ?1, ?2, ?3, ?4
WHERE (SELECT count(*) FROM preference p WHERE p.principal = ?1 AND p.surface <> ?2) < ?5
ON CONFLICT (principal, surface) DO UPDATE SET body = excluded.body, updated_us = excluded.updated_us
