-- ?1 namespace, ?2 queue, ?3 build -> when it was promoted, if it ever was
SELECT promoted_us FROM build WHERE namespace = ?1 AND queue = ?2 AND build_id = ?3 AND promoted_us IS NOT NULL
