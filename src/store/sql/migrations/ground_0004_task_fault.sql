-- Workflow tasks that workers could not do (trouble 3): what they said is in the body, counted, until one can or the run
-- closes. They are looked for when failures are listed; on all others the index costs nothing.
CREATE INDEX task_fault ON task (run) WHERE trouble = 3;
