-- ?1 namespace, ?2 queue -> the build that was promoted last
SELECT build_id FROM build WHERE namespace = ?1 AND queue = ?2 AND promoted_us IS NOT NULL
ORDER BY promoted_us DESC, build_id LIMIT 1
