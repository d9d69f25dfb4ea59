-- ?1 run, ?2 blocked (0: no longer). Flag: the run is open.
UPDATE run SET blocked = ?2 WHERE key = ?1 AND closed_us IS NULL
