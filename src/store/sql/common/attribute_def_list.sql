-- ?1 namespace -> search attributes that it knows: name, type; by name
SELECT name, type FROM search_attribute_def WHERE namespace = ?1 ORDER BY name
