-- The timer is pending after all. ?1 key, ?2 due_us
UPDATE timer SET status = 1, due_us = ?2, closed_us = NULL WHERE key = ?1
