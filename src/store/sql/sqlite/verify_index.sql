-- I37. -- only sqlite: the PostgreSQL driver looks at its catalogue itself.
-- -> names of the unique indexes that are missing: the backstops of the fence
SELECT w.name FROM (
    SELECT 'run_open' AS name UNION ALL SELECT 'history_run' UNION ALL SELECT 'payload_digest'
    UNION ALL SELECT 'command_run' UNION ALL SELECT 'command_message' UNION ALL SELECT 'timer_step'
    UNION ALL SELECT 'activity_step' UNION ALL SELECT 'link_pair' UNION ALL SELECT 'task_workflow'
    UNION ALL SELECT 'schedule_id' UNION ALL SELECT 'schedule_slot'
) w
WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema s WHERE s.type = 'index' AND s.name = w.name
    AND s.sql LIKE 'CREATE UNIQUE INDEX%')
