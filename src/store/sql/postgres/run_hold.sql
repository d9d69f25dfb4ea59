UPDATE run r SET last_us = r.last_us FROM {rows parent int, step int}
WHERE r.key = (SELECT l.child_run FROM link l JOIN run c ON c.key = l.child_run
    WHERE l.parent_run = u.parent AND l.kind = 1 AND l.step = u.step ORDER BY c.number DESC LIMIT 1)
