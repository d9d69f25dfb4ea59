WITH gone AS (
    SELECT u.instance, min(u.row) AS row, count(*) AS messages
    FROM {bare run int, instance int} JOIN command c ON c.run = u.run AND c.message_seq IS NOT NULL
    WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.key = u.run)
        AND NOT EXISTS (SELECT 1 FROM dedup d WHERE d.instance = c.instance AND d.command = c.key)
    GROUP BY u.instance
)
UPDATE instance i SET retired_messages = i.retired_messages + g.messages FROM gone g
WHERE i.key = g.instance
RETURNING g.row
