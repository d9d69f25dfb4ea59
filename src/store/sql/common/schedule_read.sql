-- ?1 key -> the schedule
SELECT key, namespace, id, status, revision, next_us, events, fires, latest_instance, created_us, body
FROM schedule WHERE key = ?1
