-- ?1 run -> open activities of one run: key, step, type, status, attempt
SELECT key, step, type, status, attempt FROM activity WHERE run = ?1 AND closed_us IS NULL ORDER BY step
