-- The right to fire. ?1 key, ?2 revision expected, ?3 revision, ?4 namespace, ?5 id of the instance that is to be made.
-- Flag: the schedule was where the unit expected it, and the id is free.
UPDATE schedule SET revision = ?3
WHERE key = ?1 AND revision = ?2 AND NOT EXISTS (SELECT 1 FROM instance i WHERE i.namespace = ?4 AND i.id = ?5)
