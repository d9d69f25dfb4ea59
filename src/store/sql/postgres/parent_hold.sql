UPDATE instance i SET current_run = i.current_run FROM {rows run int}
    JOIN run p ON p.key = u.run
WHERE i.key = p.instance
