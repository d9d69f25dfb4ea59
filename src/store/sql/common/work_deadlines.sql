-- The open runs whose execution or run deadline passes next. ?1 after which time, ?2 and run, ?3 how many -> run, the
-- earlier deadline, shard
SELECT d.run, d.due_us, d.shard
FROM (SELECT r.key AS run, CASE WHEN r.run_deadline_us IS NULL OR r.execution_deadline_us < r.run_deadline_us
        THEN r.execution_deadline_us ELSE r.run_deadline_us END AS due_us, i.shard AS shard
    FROM run r JOIN instance i ON i.key = r.instance
    WHERE r.closed_us IS NULL AND (r.execution_deadline_us IS NOT NULL OR r.run_deadline_us IS NOT NULL)) d
WHERE d.due_us >= ?1 AND (d.due_us, d.run) > (?1, ?2)
ORDER BY d.due_us, d.run LIMIT ?3
