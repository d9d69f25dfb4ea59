DELETE FROM command t USING {bare run int, instance int}
WHERE t.run = u.run AND NOT EXISTS (SELECT 1 FROM run r WHERE r.key = u.run)
    AND NOT EXISTS (SELECT 1 FROM dedup d WHERE d.instance = t.instance AND d.command = t.key)
RETURNING u.row
