-- I40. ?1 lowest, ?2 highest run key, ?3 completed -> correlation keys of no instance of their namespace, and those that
-- outlived an end that frees them
SELECT c.namespace AS namespace, c.instance AS instance, c.scope AS scope
FROM correlation c LEFT JOIN instance i ON i.key = c.instance LEFT JOIN run r ON r.key = i.current_run
WHERE ?1 < ?2 AND (i.key IS NULL OR i.namespace <> c.namespace OR c.scope < 0 OR c.scope > 3
    OR (r.closed_us IS NOT NULL AND (c.scope & (CASE WHEN r.status = ?3 THEN 1 ELSE 2 END)) = 0))
