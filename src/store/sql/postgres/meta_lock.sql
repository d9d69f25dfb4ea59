-- ?1 name -> value, and nobody else gets past this row before the transaction ends
SELECT value FROM meta WHERE name = ?1 FOR UPDATE
