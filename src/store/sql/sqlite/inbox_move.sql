-- What was left for the instance rather than for this run goes to the run that follows. ?1 run, ?2 the next
UPDATE inbox SET run = ?2 WHERE run = ?1 AND kind >= 16
