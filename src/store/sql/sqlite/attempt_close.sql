-- ?1 activity, ?2 number, ?3 status, ?4 closed_us
UPDATE attempt SET status = ?3, closed_us = ?4, lease_until_us = NULL WHERE activity = ?1 AND number = ?2
