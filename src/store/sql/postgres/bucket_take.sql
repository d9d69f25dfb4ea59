WITH made AS (
    INSERT INTO bucket (namespace, key, tokens, refilled_us, full_us)
    SELECT u.namespace, u.key, (u.burst - u.weight) * 1000000, u.now_us,
        u.now_us + 1 + floor(u.weight::float8 * u.per_us / u.allowed)::bigint
    FROM {bare key text, weight int, burst int, allowed int, per_us int, now_us int, namespace int}
    WHERE u.weight <= u.burst
    ON CONFLICT (namespace, key) DO NOTHING
    RETURNING namespace, key
), taken AS (
    UPDATE bucket b SET
        tokens = least(k.burst * 1000000.0::float8, b.tokens + greatest(k.now_us - b.refilled_us, 0)::float8
            * 1000000 * k.allowed / k.per_us)::bigint - k.weight * 1000000,
        refilled_us = greatest(k.now_us, b.refilled_us),
        full_us = greatest(k.now_us, b.refilled_us) + 1 + floor((k.weight + k.burst - least(k.burst::float8,
            b.tokens / 1000000.0::float8 + greatest(k.now_us - b.refilled_us, 0)::float8 * k.allowed / k.per_us))
            * k.per_us / k.allowed)::bigint
    FROM unnest(?1::text[], ?2::bigint[], ?3::bigint[], ?4::bigint[], ?5::bigint[], ?6::bigint[],
            ?7::bigint[]) AS k(key, weight, burst, allowed, per_us, now_us, namespace)
    WHERE b.namespace = k.namespace AND b.key = k.key AND least(k.burst * 1000000.0::float8, b.tokens
        + greatest(k.now_us - b.refilled_us, 0)::float8 * 1000000 * k.allowed / k.per_us) >= k.weight * 1000000
    RETURNING b.namespace, b.key
)
SELECT k.row FROM unnest(?1::text[], ?7::bigint[]) WITH ORDINALITY AS k(key, namespace, row)
    JOIN (SELECT namespace, key FROM made UNION ALL SELECT namespace, key FROM taken) t
        ON t.namespace = k.namespace AND t.key = k.key
