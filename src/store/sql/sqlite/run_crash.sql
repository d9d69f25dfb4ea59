-- The process died while the run's code had it. ?1 run. Flag: the run is open.
UPDATE run SET crash_count = crash_count + 1 WHERE key = ?1 AND closed_us IS NULL
