DELETE FROM task t USING {bare run int, seen int} JOIN run r ON r.key = u.run AND r.last_seq = u.seen
WHERE t.key = (SELECT x.key FROM task x WHERE x.run = u.run AND x.kind = 1)
RETURNING u.row
