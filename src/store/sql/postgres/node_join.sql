-- only postgres
-- ?1 key, ?2 name, ?3 lease in microseconds: a node says that it is here.
INSERT INTO node (key, name, started_us, lease_until_us)
SELECT ?1, ?2, t.us, t.us + ?3
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) t
