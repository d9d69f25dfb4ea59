UPDATE schedule s SET revision = u.revision, status = u.status, next_us = u.next_us, events = u.events, fires = u.fires,
    latest_instance = u.latest_instance, body = u.body
FROM {bare key int, expected int, revision int, status int, next_us int, events int, fires int, latest_instance int, body blob}
WHERE s.key = u.key AND (s.revision = u.expected OR s.revision = u.revision)
RETURNING u.row
