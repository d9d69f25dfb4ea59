-- ?1 now -> when the first of the activities that wait to be tried again may begin; null: none waits
SELECT MIN(a.available_us) FROM activity a WHERE a.available_us > ?1 AND a.attempt > 0 AND a.closed_us IS NULL
