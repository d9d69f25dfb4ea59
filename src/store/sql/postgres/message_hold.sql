UPDATE instance i SET current_run = i.current_run FROM {rows namespace int, id text}
WHERE i.namespace = u.namespace AND i.id = u.id
