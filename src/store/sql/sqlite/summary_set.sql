-- ?1 run, ?2 status
UPDATE run_summary SET status = ?2 WHERE run = ?1
