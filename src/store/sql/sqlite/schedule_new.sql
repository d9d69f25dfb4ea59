-- ?1 key, ?2 namespace, ?3 id, ?4 status, ?5 revision, ?6 next_us, ?7 events, ?8 fires, ?9 latest_instance, ?10 created_us,
-- ?11 body. Flag: the id was free, or this very schedule is there already.
INSERT INTO schedule (key, namespace, id, status, revision, next_us, events, fires, latest_instance, created_us, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT (namespace, id) WHERE status <> 3 DO UPDATE SET revision = excluded.revision
WHERE schedule.key = excluded.key AND schedule.revision = excluded.revision
