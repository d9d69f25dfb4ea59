-- Runs with facts from other runs to fold in. ?1 after key, ?2 how many -> key, run
SELECT key, run FROM inbox WHERE key > ?1 ORDER BY key LIMIT ?2
