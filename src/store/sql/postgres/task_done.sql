DELETE FROM task t USING {rows run int, seen int}
WHERE t.key = (SELECT x.key FROM task x WHERE x.run = u.run AND x.kind = 1) AND g.message_seq = u.seen
