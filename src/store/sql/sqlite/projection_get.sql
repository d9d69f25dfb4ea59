-- ?1 run keys as a JSON list -> the fold of each that has one: run, version, seq, head, body
WITH k AS MATERIALIZED (SELECT value AS run FROM json_each(?1))
SELECT p.run, p.version, p.seq, p.head, p.body FROM k CROSS JOIN run_projection p ON p.run = k.run
