-- As the guarded form, but one schedule that has moved on ends the transaction (division by zero).
WITH held AS (
    UPDATE schedule s SET revision = u.revision
    FROM {bare key int, expected int, revision int, namespace int, id text}
    WHERE s.key = u.key AND s.revision = u.expected
        AND NOT EXISTS (SELECT 1 FROM instance i WHERE i.namespace = u.namespace AND i.id = u.id)
    RETURNING 1
)
SELECT 1 / (count(*) = {count})::int FROM held
