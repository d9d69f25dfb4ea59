-- ?1 key, ?2 weight, ?3 burst, ?4 allowed in ?5 us, ?6 now_us, ?7 namespace. Flag: the tokens are taken.
INSERT INTO bucket (namespace, key, tokens, refilled_us, full_us)
SELECT ?7, ?1, (?3 - ?2) * 1000000, ?6, ?6 + 1 + CAST(?2 * 1.0 * ?5 / ?4 AS INTEGER) WHERE ?2 <= ?3
ON CONFLICT (namespace, key) DO UPDATE SET
    tokens = CAST(min(?3 * 1000000.0, tokens + max(?6 - refilled_us, 0) * 1000000.0 * ?4 / ?5) AS INTEGER)
        - ?2 * 1000000,
    refilled_us = max(?6, refilled_us),
    full_us = max(?6, refilled_us) + 1 + CAST((?2 + ?3
        - min(?3 * 1.0, tokens / 1000000.0 + max(?6 - refilled_us, 0) * 1.0 * ?4 / ?5)) * ?5 / ?4 AS INTEGER)
WHERE min(?3 * 1000000.0, tokens + max(?6 - refilled_us, 0) * 1000000.0 * ?4 / ?5) >= ?2 * 1000000
