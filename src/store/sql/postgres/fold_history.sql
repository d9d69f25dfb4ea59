WITH k AS MATERIALIZED (
    SELECT (j->>0)::bigint AS run, (j->>1)::bigint AS seq FROM json_array_elements(?1::json) AS j)
SELECT k.run, h.first_seq, h.body, h.hash
FROM k CROSS JOIN LATERAL (
    SELECT first_seq, body, hash FROM history
    WHERE run = k.run
        AND first_seq >= (SELECT coalesce(max(first_seq), 0) FROM history WHERE run = k.run AND first_seq <= k.seq)
    ORDER BY first_seq) h
