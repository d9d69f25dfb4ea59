-- As the guarded form: a message that came meanwhile keeps the task.
DELETE FROM task t USING {bare run int, seen int} JOIN run g ON g.key = u.run
WHERE t.key = (SELECT x.key FROM task x WHERE x.run = u.run AND x.kind = 1) AND g.message_seq = u.seen
