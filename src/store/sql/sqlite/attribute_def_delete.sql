-- ?1 namespace, ?2 name. Flag: there was one.
DELETE FROM search_attribute_def WHERE namespace = ?1 AND name = ?2
