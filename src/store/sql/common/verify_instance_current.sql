-- I19. ?1 lowest, ?2 highest run key -> instances whose current run is not their newest
SELECT i.key AS instance, i.current_run AS run, i.run_count AS runs
FROM instance i LEFT JOIN run r ON r.key = i.current_run
WHERE ((i.current_run IS NULL AND i.run_count <> 0)
        OR (i.current_run IS NOT NULL AND (r.key IS NULL OR r.instance <> i.key OR r.number <> i.run_count)))
    AND (?1 < ?2 OR i.current_run = ?1 OR i.key = (SELECT s.instance FROM run s WHERE s.key = ?1))
