-- An attempt that nobody works on is over, and the next may begin; its owner may still report until that does. ?1 key, ?2 attempt, ?3 lost_attempts, ?4 deadline_us,
-- ?5 available_us. Flag: it was the newest attempt, and under way.
UPDATE activity SET status = 1, lost_attempts = ?3, deadline_us = ?4, available_us = ?5, started_us = NULL,
    lease_until_us = NULL
WHERE key = ?1 AND attempt = ?2 AND status = 2
