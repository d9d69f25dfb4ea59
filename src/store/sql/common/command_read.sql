-- ?1 key -> status, outcome, rejection, run, command_seq, recorded_us, body, when its run was created, state, name, type,
-- applied_us, closed_us, instance
SELECT c.status, c.outcome, c.rejection, c.run, c.command_seq, c.recorded_us, c.body, r.created_us, c.state, c.name, c.type,
       c.applied_us, c.closed_us, c.instance
FROM command c LEFT JOIN run r ON r.key = c.run
WHERE c.key = ?1
