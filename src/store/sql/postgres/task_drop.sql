DELETE FROM task t USING {bare run int, seen int} JOIN run r ON r.key = u.run AND r.last_seq = u.seen
WHERE t.run = u.run AND t.kind = 1
RETURNING u.row
