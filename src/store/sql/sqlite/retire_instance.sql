-- ?1 run, ?2 instance: that has no run any more, because this was its newest. Flag: it is so.
DELETE FROM instance WHERE key = ?2 AND current_run = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE key = ?1)
