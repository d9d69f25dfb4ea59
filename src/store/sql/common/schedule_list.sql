-- ?1 namespace key, ?2 created before, ?3 and then id after, ?4 how many -> those that live, newest first
SELECT key, namespace, id, status, revision, next_us, events, fires, latest_instance, created_us, body
FROM schedule WHERE namespace = ?1 AND status <> 3 AND (created_us < ?2 OR (created_us = ?2 AND id > ?3))
ORDER BY created_us DESC, id LIMIT ?4
