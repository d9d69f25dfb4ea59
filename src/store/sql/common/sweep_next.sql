-- When the next lease ends or the next task may be tried again. ?1 now_us -> moment, null when there is none
SELECT min(CASE WHEN status = 2 THEN lease_until_us ELSE repair_us END)
FROM task WHERE kind = 1 AND ((status = 2 AND lease_until_us > ?1) OR (status = 1 AND repair_us > ?1))
