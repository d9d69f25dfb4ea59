-- I36. ?1 lowest, ?2 highest run key -> run, key, size, compression, digest, body; in the order they were written
SELECT run, key, size, compression, digest, body FROM payload WHERE run BETWEEN ?1 AND ?2 ORDER BY key
