-- Builds of which something was said. ?1 namespace -> queue, build_id, drained_us, promoted_us
SELECT queue, build_id, drained_us, promoted_us FROM build
WHERE namespace = ?1 AND (drained_us IS NOT NULL OR promoted_us IS NOT NULL) ORDER BY queue, build_id
