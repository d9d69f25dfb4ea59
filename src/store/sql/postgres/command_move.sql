UPDATE command c SET run = u.run, command_seq = u.command_seq FROM {rows key int, run int, command_seq int}
WHERE c.key = u.key
