-- I39. ?1 lowest, ?2 highest run key -> counters that would give a number out again
SELECT t.used AS used, c.next AS next
FROM (
    SELECT 'position' AS name, coalesce(max(position), 0) AS used FROM history
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM namespace
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM instance
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM run
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM payload
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM command
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM inbox
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM message
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM task
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM timer
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM activity
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM link
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM definition
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM batch
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM imported_run
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM answer_link
    UNION ALL SELECT 'key', coalesce(max(key), 0) FROM schedule
    UNION ALL SELECT 'key', coalesce(max(revision), 0) FROM schedule
) t LEFT JOIN counter c ON c.name = t.name
WHERE (c.next IS NULL OR c.next <= t.used) AND ?1 < ?2
