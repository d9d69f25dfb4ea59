-- Whoever gives it another run at the same time moves current_run, and that is looked at again once its row is free.
DELETE FROM instance i USING {bare run int, instance int}
WHERE i.key = u.instance AND i.current_run = u.run AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = u.run)
RETURNING u.row
