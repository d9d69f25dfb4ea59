-- Joins the command: a unit that leaves the run's head where it is has no other proof that its fence held.
INSERT INTO dedup (instance, hash, command)
SELECT u.instance, u.hash, u.command
FROM {rows instance int, hash blob, command int} JOIN command c ON c.key = u.command
