-- Builds that are drained. ?1 namespace -> queue, build_id, drained_us
SELECT queue, build_id, drained_us FROM build WHERE namespace = ?1 AND drained_us IS NOT NULL ORDER BY queue, build_id
