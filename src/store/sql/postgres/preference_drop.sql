DELETE FROM preference p USING {bare principal text, surface text}
WHERE p.principal = u.principal AND p.surface = u.surface
RETURNING u.row
