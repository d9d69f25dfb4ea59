-- Open runs to be looked at, in the order of their keys. ?1 after key, ?2 up to key, ?3 how many -> key
SELECT key FROM run WHERE closed_us IS NULL AND key > ?1 AND key <= ?2 ORDER BY key LIMIT ?3
