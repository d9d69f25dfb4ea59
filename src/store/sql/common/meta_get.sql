-- ?1 name -> value
SELECT value FROM meta WHERE name = ?1
