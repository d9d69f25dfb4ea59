WITH made AS (
    INSERT INTO schedule (key, namespace, id, status, revision, next_us, events, fires, latest_instance, created_us, body)
    SELECT u.key, u.namespace, u.id, u.status, u.revision, u.next_us, u.events, u.fires, u.latest_instance, u.created_us, u.body
    FROM {bare key int, namespace int, id text, status int, revision int, next_us int, events int, fires int, latest_instance int, created_us int, body blob}
    ON CONFLICT (namespace, id) WHERE status <> 3 DO UPDATE SET revision = excluded.revision
    WHERE schedule.key = excluded.key AND schedule.revision = excluded.revision
    RETURNING key
)
SELECT k.row FROM unnest(?1::bigint[]) WITH ORDINALITY AS k(key, row) JOIN made ON made.key = k.key
