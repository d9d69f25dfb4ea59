-- ?1 run, ?2 instance: commands of a run that retention removed. Those that an idempotency key leads to stay as long as
-- the instance, because a repetition is answered from them. Flag: there was something.
DELETE FROM command WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM run WHERE key = ?1)
    AND key NOT IN (SELECT command FROM dedup WHERE instance = ?2)
