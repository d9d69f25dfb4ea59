-- ?1 run, ?2 last_seq seen: a turn that decided nothing is over. Flag: nothing had come meanwhile.
DELETE FROM task WHERE run = ?1 AND kind = 1 AND (SELECT last_seq FROM run WHERE key = ?1) = ?2
