-- ?1 run -> pending timers of one run: key, step, kind, due_us
-- What is open is hidden from planners: they would rather read all timers that are than those of the run.
SELECT key, step, kind, due_us FROM timer WHERE run = ?1 AND coalesce(closed_us, 0) = 0 ORDER BY step
