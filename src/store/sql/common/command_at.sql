-- ?1 key -> 1 when there is such a command
SELECT 1 FROM command WHERE key = ?1
