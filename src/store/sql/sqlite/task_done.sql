-- ?1 run, ?2 messages seen: the turn is over, unless a message came that the turn did not see.
DELETE FROM task WHERE run = ?1 AND kind = 1 AND (SELECT message_seq FROM run WHERE key = ?1) = ?2
