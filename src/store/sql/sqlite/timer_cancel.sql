-- ?1 run, ?2 step
DELETE FROM timer WHERE run = ?1 AND step = ?2
