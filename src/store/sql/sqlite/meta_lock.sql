-- ?1 name -> value. The transaction holds the only write lock there is.
SELECT value FROM meta WHERE name = ?1
