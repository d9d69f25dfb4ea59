-- I36. ?1 lowest, ?2 highest run key -> run, key, size, compression, digest, body; in the order they were written.
-- Runs of other stores are one payload each: keys are never given out twice, so theirs are no run's.
SELECT run, key, size, compression, digest, body FROM payload WHERE run BETWEEN ?1 AND ?2
UNION ALL
SELECT key, key, size, compression, digest, body FROM imported_run WHERE key BETWEEN ?1 AND ?2 ORDER BY 2
