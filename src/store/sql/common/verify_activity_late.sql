-- I27. ?1 lowest, ?2 highest run key -> activities whose newest attempt began after their last deadline
SELECT run, key AS activity, attempt FROM activity
WHERE run BETWEEN ?1 AND ?2 AND started_us > close_deadline_us
