-- When retention has something to look at. -> when the time of the oldest closed run is over, null without any; the
-- shortest time that anything is kept, null when all is kept for ever; whether there are rows that belong to no run and
-- go one day
SELECT (SELECT min(r.closed_us) FROM run r WHERE r.closed_us >= 0) + min(n.retention_days) * 86400000000,
    min(n.retention_days) * 86400000000,
    CASE WHEN EXISTS (SELECT 1 FROM bucket) OR EXISTS (SELECT 1 FROM slot) OR EXISTS (SELECT 1 FROM imported_run)
        OR EXISTS (SELECT 1 FROM batch) OR EXISTS (SELECT 1 FROM schedule s WHERE s.status = 3) THEN 1 ELSE 0 END
FROM namespace n WHERE n.retention_days > 0
