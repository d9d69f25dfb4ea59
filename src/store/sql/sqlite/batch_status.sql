-- ?1 key, ?2 status expected, ?3 status, ?4 closed_us. Flag: it was so, and is nobody's now.
UPDATE batch SET status = ?3, closed_us = ?4, owner = NULL, lease_until_us = NULL WHERE key = ?1 AND status = ?2
