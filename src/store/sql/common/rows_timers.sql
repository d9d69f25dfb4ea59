-- ?1 run -> its timer rows: key, step, kind, status, due_us, closed_us
SELECT key, step, kind, status, due_us, closed_us FROM timer WHERE run = ?1 ORDER BY step
