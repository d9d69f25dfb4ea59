-- The open runs whose execution or run deadline passes next. ?1 how many -> run, the earlier deadline
SELECT key, CASE WHEN run_deadline_us IS NULL OR execution_deadline_us < run_deadline_us
    THEN execution_deadline_us ELSE run_deadline_us END
FROM run
WHERE closed_us IS NULL AND (execution_deadline_us IS NOT NULL OR run_deadline_us IS NOT NULL)
ORDER BY 2 LIMIT ?1
