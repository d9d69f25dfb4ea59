-- ?1 run -> definition key, queue, when it was created
SELECT definition, queue, created_us FROM run WHERE key = ?1
