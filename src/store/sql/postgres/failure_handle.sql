UPDATE failure t SET handled = 1 FROM {bare run int, step int}
WHERE t.run = u.run AND t.step = u.step
RETURNING u.row
