-- ?1 activity: all its attempts
DELETE FROM attempt WHERE activity = ?1
