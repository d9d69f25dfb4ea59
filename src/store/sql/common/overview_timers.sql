-- ?1 namespace, ?2 from, ?3 to, ?4 how many at most -> open timers that fire then: minute, how many
SELECT (m.due_us - ?2) / 60000000, count(*)
FROM (SELECT due_us, run FROM timer WHERE closed_us IS NULL AND due_us >= ?2 AND due_us < ?3
    ORDER BY due_us, key LIMIT ?4) m JOIN run_summary s ON s.run = m.run
WHERE s.namespace = ?1 GROUP BY 1
