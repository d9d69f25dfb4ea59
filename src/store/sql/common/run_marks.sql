-- ?1 run key -> paused_us, archived_us
SELECT paused_us, archived_us FROM run WHERE key = ?1
