-- ?1 namespace key, ?2 id -> the schedule that lives, or the one that was deleted last
SELECT key, namespace, id, status, revision, next_us, events, fires, latest_instance, created_us, body
FROM schedule WHERE namespace = ?1 AND id = ?2
ORDER BY CASE WHEN status = 3 THEN 1 ELSE 0 END, key DESC LIMIT 1
