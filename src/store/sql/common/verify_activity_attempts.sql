-- I27. ?1 lowest, ?2 highest run key -> activities with more attempts than allowed; lost ones do not count, starts that
-- were missed do
SELECT run, key AS activity, attempt AS attempts, lost_attempts AS lost, max_attempts AS allowed
FROM activity
WHERE run BETWEEN ?1 AND ?2 AND (attempt - lost_attempts + missed_starts > max_attempts OR lost_attempts > attempt
    OR lost_attempts < 0 OR crash_count > lost_attempts)
