-- ?1 pairs of a run key and the first sequence wanted of it, as a JSON list of lists -> chunks of each from the one that
-- holds it: run, first_seq, body, hash
WITH k AS MATERIALIZED (
    SELECT json_extract(value, '$[0]') AS run, json_extract(value, '$[1]') AS seq FROM json_each(?1))
SELECT h.run, h.first_seq, h.body, h.hash
FROM k CROSS JOIN history h ON h.run = k.run
WHERE h.first_seq >= (SELECT coalesce(max(c.first_seq), 0) FROM history c WHERE c.run = k.run AND c.first_seq <= k.seq)
