-- When retention has something to look at. -> when the time of the oldest closed run is over, null without any; the
-- shortest time that anything is kept, null when all is kept for ever
SELECT (SELECT min(r.closed_us) FROM run r WHERE r.closed_us >= 0) + min(n.retention_days) * 86400000000,
    min(n.retention_days) * 86400000000
FROM namespace n WHERE n.retention_days > 0
