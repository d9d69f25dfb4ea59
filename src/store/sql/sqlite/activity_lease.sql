-- The lease of an attempt goes on. ?1 key, ?2 attempt, ?3 lease_until_us
UPDATE activity SET lease_until_us = ?3 WHERE key = ?1 AND attempt = ?2 AND status = 2
