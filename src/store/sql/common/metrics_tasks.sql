-- ?1 now, ?2 overdue before -> open, ready, due, delayed, leased, handing over failed, claim failed, overdue, lease over,
-- most attempts, most repairs, oldest due, oldest lease that is over, added in the last minute, oldest overdue, blocked,
-- when the oldest was made of those whose handing over and whose claim failed, in any trouble, when the oldest of those
SELECT count(*), sum(CASE WHEN status = 1 THEN 1 ELSE 0 END),
    sum(CASE WHEN status = 1 AND available_us <= ?1 THEN 1 ELSE 0 END),
    sum(CASE WHEN status = 1 AND available_us > ?1 THEN 1 ELSE 0 END), sum(CASE WHEN status = 2 THEN 1 ELSE 0 END),
    sum(CASE WHEN trouble = 1 THEN 1 ELSE 0 END), sum(CASE WHEN trouble = 2 THEN 1 ELSE 0 END),
    sum(CASE WHEN status = 1 AND available_us < ?2 THEN 1 ELSE 0 END),
    sum(CASE WHEN status = 2 AND lease_until_us < ?1 THEN 1 ELSE 0 END), max(attempt), max(repair_count),
    min(CASE WHEN status = 1 AND available_us <= ?1 THEN available_us END),
    min(CASE WHEN status = 2 AND lease_until_us < ?1 THEN lease_until_us END),
    sum(CASE WHEN created_us > ?1 - 60000000 THEN 1 ELSE 0 END),
    min(CASE WHEN status = 1 AND available_us < ?2 THEN available_us END),
    sum(CASE WHEN status = 5 THEN 1 ELSE 0 END),
    min(CASE WHEN trouble = 1 THEN created_us END), min(CASE WHEN trouble = 2 THEN created_us END),
    sum(CASE WHEN trouble <> 0 OR status = 5 OR (status = 1 AND available_us < ?2)
        OR (status = 2 AND lease_until_us < ?1) THEN 1 ELSE 0 END),
    min(CASE WHEN trouble <> 0 OR status = 5 OR (status = 1 AND available_us < ?2)
        OR (status = 2 AND lease_until_us < ?1) THEN created_us END)
FROM task
