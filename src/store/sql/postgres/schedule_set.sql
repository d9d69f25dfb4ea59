UPDATE schedule s SET status = u.status, next_us = u.next_us, events = u.events, fires = u.fires,
    latest_instance = u.latest_instance, body = u.body
FROM {rows key int, expected int, revision int, status int, next_us int, events int, fires int, latest_instance int, body blob}
WHERE s.key = u.key AND s.revision = u.revision
