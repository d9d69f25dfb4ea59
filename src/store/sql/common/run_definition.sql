-- ?1 run -> definition key, queue
SELECT definition, queue FROM run WHERE key = ?1
