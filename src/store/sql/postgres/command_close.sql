UPDATE command c SET outcome = u.outcome, state = u.state, applied_us = u.applied_us, closed_us = u.closed_us
FROM {rows key int, outcome int, state int, applied_us int, closed_us int}
WHERE c.key = u.key
