-- -> queue and name of every build that was ever promoted
SELECT queue, build_id FROM build WHERE promoted_us IS NOT NULL AND build_id <> '' ORDER BY queue, build_id
