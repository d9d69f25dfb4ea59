-- A message that the next run of the instance takes over. ?1 key, ?2 run, ?3 command_seq
UPDATE command SET run = ?2, command_seq = ?3 WHERE key = ?1
