-- I16. ?1 lowest, ?2 highest run key -> idempotency keys that lead to no command of their instance
SELECT d.instance AS instance, d.command AS command
FROM dedup d LEFT JOIN command c ON c.key = d.command
WHERE (c.key IS NULL OR c.instance <> d.instance) AND (?1 < ?2 OR c.run = ?1)
