-- Open runs of a type with a task, that were started when nobody had declared the type. ?1 type, ?2 after run key,
-- ?3 how many -> run
SELECT t.run FROM task t JOIN run r ON r.key = t.run JOIN instance i ON i.key = r.instance
WHERE t.kind = 1 AND t.run > ?2 AND r.definition IS NULL AND r.closed_us IS NULL AND i.type = ?1
ORDER BY t.run LIMIT ?3
