DELETE FROM task t USING {rows run int, seen int}
WHERE t.run = u.run AND t.kind = 1 AND g.message_seq = u.seen
