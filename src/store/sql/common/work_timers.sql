-- The next timers to fire. ?1 after due_us, ?2 and key, ?3 how many -> key, run, step, kind, due_us
SELECT key, run, step, kind, due_us FROM timer
WHERE closed_us IS NULL AND (due_us, key) > (?1, ?2)
ORDER BY due_us, key LIMIT ?3
