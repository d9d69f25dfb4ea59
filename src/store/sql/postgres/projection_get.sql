WITH k AS MATERIALIZED (SELECT json_array_elements_text(?1::json)::bigint AS run)
SELECT x.*
FROM k CROSS JOIN LATERAL (
    SELECT p.run, p.version, p.seq, p.head, p.body FROM run_projection p WHERE p.run = k.run LIMIT 1) x
