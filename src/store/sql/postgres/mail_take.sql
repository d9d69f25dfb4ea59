-- only postgres
-- ?1 receiver, ?2 at most so many -> sender, kind, body, in the order in which they were sent
WITH soon AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true) AS how
), first AS (
    SELECT seq FROM mail, soon WHERE receiver = ?1 AND soon.how IS NOT NULL ORDER BY seq LIMIT ?2
), taken AS (
    DELETE FROM mail USING first WHERE mail.receiver = ?1 AND mail.seq = first.seq
    RETURNING mail.seq, mail.sender, mail.kind, mail.body
)
SELECT sender, kind, body FROM taken ORDER BY seq
