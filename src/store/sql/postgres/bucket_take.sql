WITH made AS (
    INSERT INTO bucket (key, tokens, refilled_us)
    SELECT u.key, (u.burst - u.weight) * 1000000, u.now_us
    FROM {bare key text, weight int, burst int, allowed int, per_us int, now_us int}
    WHERE u.weight <= u.burst
    ON CONFLICT (key) DO NOTHING
    RETURNING key
), taken AS (
    UPDATE bucket b SET
        tokens = least(k.burst * 1000000.0::float8, b.tokens + greatest(k.now_us - b.refilled_us, 0)::float8
            * 1000000 * k.allowed / k.per_us)::bigint - k.weight * 1000000,
        refilled_us = greatest(k.now_us, b.refilled_us)
    FROM unnest(?1::text[], ?2::bigint[], ?3::bigint[], ?4::bigint[], ?5::bigint[], ?6::bigint[])
        AS k(key, weight, burst, allowed, per_us, now_us)
    WHERE b.key = k.key AND least(k.burst * 1000000.0::float8, b.tokens
        + greatest(k.now_us - b.refilled_us, 0)::float8 * 1000000 * k.allowed / k.per_us) >= k.weight * 1000000
    RETURNING b.key
)
SELECT k.row FROM unnest(?1::text[]) WITH ORDINALITY AS k(key, row)
    JOIN (SELECT key FROM made UNION ALL SELECT key FROM taken) t ON t.key = k.key
