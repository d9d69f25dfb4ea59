-- ?1 instance, ?2 stream, ?3 up to which number, ?4 run, ?5 step that read them, ?6 now
UPDATE message SET state = 2, taken_run = ?4, taken_step = ?5, taken_us = ?6
WHERE instance = ?1 AND stream = ?2 AND seq <= ?3 AND direction = 1 AND state = 1
