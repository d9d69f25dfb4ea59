DELETE FROM search_attribute_def t USING {bare namespace int, name text}
WHERE t.namespace = u.namespace AND t.name = u.name
RETURNING u.row
