UPDATE instance i SET current_run = i.current_run FROM {rows key int}
WHERE i.key = u.key
