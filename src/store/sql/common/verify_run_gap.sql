-- I19. ?1 lowest, ?2 highest run key -> instances whose runs are not numbered without a gap
SELECT o.instance AS instance, count(*) AS runs, max(o.number) AS newest FROM run o
WHERE ?1 < ?2 OR o.instance = (SELECT s.instance FROM run s WHERE s.key = ?1)
GROUP BY o.instance HAVING count(*) <> max(o.number) - min(o.number) + 1
