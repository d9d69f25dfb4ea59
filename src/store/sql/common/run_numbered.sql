-- ?1 instance, ?2 number -> the run with that number
SELECT key FROM run WHERE instance = ?1 AND number = ?2
