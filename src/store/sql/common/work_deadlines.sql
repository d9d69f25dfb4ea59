-- The open runs whose execution or run deadline passes next. ?1 how many -> run, the earlier deadline, shard
SELECT r.key, CASE WHEN r.run_deadline_us IS NULL OR r.execution_deadline_us < r.run_deadline_us
    THEN r.execution_deadline_us ELSE r.run_deadline_us END, i.shard
FROM run r JOIN instance i ON i.key = r.instance
WHERE r.closed_us IS NULL AND (r.execution_deadline_us IS NOT NULL OR r.run_deadline_us IS NOT NULL)
ORDER BY 2 LIMIT ?1
