-- As the guarded form: a message that came meanwhile keeps the task.
-- The run's workflow task, by the index task_workflow. A plain 0 would let the planner read all of it for every run.
DELETE FROM task t USING {bare run int, seen int} JOIN run g ON g.key = u.run
WHERE t.run = u.run AND (CASE t.kind WHEN 1 THEN 0 ELSE t.key END) = u.run - u.run AND g.message_seq = u.seen
