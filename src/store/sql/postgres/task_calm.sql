-- The run's workflow task, by the index task_workflow. A plain 0 would let the planner read all of it for every run.
UPDATE task t SET body = NULL, trouble = 0, repair_us = NULL FROM {rows run int}
WHERE t.run = u.run AND (CASE t.kind WHEN 1 THEN 0 ELSE t.key END) = u.run - u.run AND t.trouble = 3
