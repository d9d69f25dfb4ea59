-- only postgres
-- A letter that the database has taken may still be lost with it; nobody waits for the disk.
WITH soon AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true) AS how,
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us
)
INSERT INTO mail (receiver, sender, kind, sent_us, body)
SELECT u.receiver, u.sender, u.kind, soon.us, u.body
FROM {bare receiver int, sender int, kind int, body text}, soon
ORDER BY u.row
