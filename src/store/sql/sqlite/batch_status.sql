-- ?1 key, ?2 status expected, ?3 status, ?4 closed_us. Flag: it was so.
UPDATE batch SET status = ?3, closed_us = ?4 WHERE key = ?1 AND status = ?2
