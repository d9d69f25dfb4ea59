-- A worker said that it goes: nobody waits for it until its row expires. ?1 name, ?2 now_us
UPDATE worker SET expires_us = ?2 WHERE name = ?1 AND expires_us > ?2
