-- ?1 name -> key
SELECT key FROM namespace WHERE name = ?1
