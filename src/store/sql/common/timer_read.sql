-- ?1 run -> pending timers of one run: key, step, kind, due_us
SELECT key, step, kind, due_us FROM timer WHERE run = ?1 AND closed_us IS NULL ORDER BY step
