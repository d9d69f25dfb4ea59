-- As the guarded form, but one instance that exists already ends the transaction (division by zero).
WITH made AS (
    INSERT INTO instance (key, namespace, id, shard, type, business_key, current_run, run_count, created_us)
    SELECT u.key, u.namespace, u.id, u.shard, u.type, u.business_key, u.current_run, u.run_count, u.created_us
    FROM {bare key int, namespace int, id text, shard int, type text, business_key text, current_run int, run_count int, created_us int, epoch int}
    WHERE u.epoch IS NULL OR EXISTS (SELECT 1 FROM shard s WHERE s.number = u.shard AND s.epoch = u.epoch)
    ON CONFLICT (namespace, id) DO NOTHING
    RETURNING 1
)
SELECT 1 / (count(*) = {count})::int FROM made
