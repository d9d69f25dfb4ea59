UPDATE task t SET trouble = u.trouble, repair_us = u.repair_us, repair_count = t.repair_count + 1
FROM {bare run int, trouble int, repair_us int}
WHERE t.key = (SELECT x.key FROM task x WHERE x.run = u.run AND x.kind = 1) AND t.status IN (1, 2)
RETURNING u.row
