-- Runs with open activities. ?1 after activity key, ?2 how many -> activity key, run
SELECT key, run FROM activity WHERE closed_us IS NULL AND key > ?1 ORDER BY key LIMIT ?2
