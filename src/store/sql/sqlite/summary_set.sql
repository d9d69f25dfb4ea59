-- ?1 run, ?2 status; statuses from 4 on are closing ones
UPDATE run_summary SET status = ?2, ended = CASE WHEN ?2 > 3 THEN ?2 ELSE 0 END, settled = 0 WHERE run = ?1
