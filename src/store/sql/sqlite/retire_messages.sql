-- ?1 run, ?2 instance: how many messages the instance will be without when the commands of the run are gone, so that
-- the numbers of messages still add up.
UPDATE instance SET retired_messages = retired_messages + (
    SELECT count(*) FROM command WHERE run = ?1 AND message_seq IS NOT NULL
        AND key NOT IN (SELECT command FROM dedup WHERE instance = ?2))
WHERE key = ?2 AND NOT EXISTS (SELECT 1 FROM run WHERE key = ?1)
