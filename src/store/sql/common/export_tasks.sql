-- ?1 run -> its open tasks: key, kind, status, queue, priority, available_us, lease_until_us, attempt, repair_count,
-- created_us, body, owner, source_kind, source_key, trouble, repair_us
SELECT key, kind, status, queue, priority, available_us, lease_until_us, attempt, repair_count, created_us, body, owner,
    source_kind, source_key, trouble, repair_us
FROM task WHERE run = ?1 ORDER BY key
