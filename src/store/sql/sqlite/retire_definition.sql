-- ?1 definition: that no run has and no start can take. Flag: it was so.
DELETE FROM definition WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE definition = ?1)
