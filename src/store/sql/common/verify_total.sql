-- ?1 lowest, ?2 highest run key -> number of runs, number of events
SELECT count(*), coalesce(sum(last_seq), 0) FROM run WHERE key BETWEEN ?1 AND ?2
