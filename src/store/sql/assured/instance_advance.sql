-- As the guarded form, but one instance that has moved on ends the transaction (division by zero).
WITH held AS (
    UPDATE instance i SET run_count = u.run_count, current_run = u.current_run, type = u.type,
        business_key = u.business_key
    FROM {bare key int, expected int, run_count int, current_run int, type text, business_key text}
    WHERE i.key = u.key AND i.run_count = u.expected
    RETURNING 1
)
SELECT 1 / (count(*) = {count})::int FROM held
