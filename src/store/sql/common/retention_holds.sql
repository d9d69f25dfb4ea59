-- What a closed run must wait for. ?1 run, ?2 instance, ?3 number -> keys of runs: the one before it, those that started
-- it, children that are open; 0: a row of open work, or a fold that is not at the end of its history
SELECT o.key FROM run o WHERE o.instance = ?2 AND o.number = ?3 - 1
UNION ALL SELECT p.key FROM link l JOIN run p ON p.key = l.parent_run WHERE l.child_run = ?1
UNION ALL SELECT c.key FROM link l JOIN run c ON c.key = l.child_run
    WHERE l.parent_run = ?1 AND l.kind = 1 AND c.closed_us IS NULL
UNION ALL SELECT 0 FROM task t WHERE t.run = ?1
UNION ALL SELECT 0 FROM inbox b WHERE b.run = ?1
UNION ALL SELECT 0 FROM run_summary s WHERE s.run = ?1 AND s.settled = 0
