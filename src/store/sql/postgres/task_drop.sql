-- The run's workflow task, by the index task_workflow. A plain 0 would let the planner read all of it for every run.
DELETE FROM task t USING {bare run int, seen int} JOIN run r ON r.key = u.run AND r.last_seq = u.seen
WHERE t.run = u.run AND (CASE t.kind WHEN 1 THEN 0 ELSE t.key END) = u.run - u.run
RETURNING u.row
