-- ?1 namespace, ?2 name -> type of the search attribute
SELECT type FROM search_attribute_def WHERE namespace = ?1 AND name = ?2
