UPDATE timer t SET status = 1, due_us = u.due_us, closed_us = NULL
FROM {rows key int, due_us int}
WHERE t.key = u.key
