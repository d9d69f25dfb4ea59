-- ?1 run: links to its children and to the run that continued it, when retention removed it. Flag: there was something.
DELETE FROM link WHERE parent_run = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE key = ?1)
