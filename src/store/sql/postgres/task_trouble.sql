-- The run's workflow task, by the index task_workflow. A plain 0 would let the planner read all of it for every run.
UPDATE task t SET trouble = u.trouble, repair_us = u.repair_us, repair_count = t.repair_count + 1
FROM {bare run int, trouble int, repair_us int}
WHERE t.run = u.run AND (CASE t.kind WHEN 1 THEN 0 ELSE t.key END) = u.run - u.run AND t.status IN (1, 2)
RETURNING u.row
