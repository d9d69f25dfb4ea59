-- ?1 run -> the run of the same instance that follows it
SELECT n.key FROM run r JOIN run n ON n.instance = r.instance AND n.number = r.number + 1 WHERE r.key = ?1
