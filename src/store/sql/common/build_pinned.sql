-- ?1 namespace -> queue and name of every build that was ever promoted in it
SELECT queue, build_id FROM build WHERE namespace = ?1 AND promoted_us IS NOT NULL AND build_id <> ''
ORDER BY queue, build_id
