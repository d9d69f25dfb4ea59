-- ?1 key, ?2 outcome, ?3 state, ?4 applied_us, ?5 closed_us
UPDATE command SET outcome = ?2, state = ?3, applied_us = ?4, closed_us = ?5 WHERE key = ?1
