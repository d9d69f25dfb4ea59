-- only postgres
-- -> node that is there, a shard that it owns (null: it owns none), by node
SELECT n.key, s.number FROM node n LEFT JOIN shard s ON s.node = n.key
WHERE n.lease_until_us > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
ORDER BY n.key
