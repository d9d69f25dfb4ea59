-- I18. ?1 lowest, ?2 highest run key -> instances with more than one open run
SELECT o.instance AS instance, count(*) AS runs FROM run o
WHERE o.closed_us IS NULL AND (?1 < ?2 OR o.instance = (SELECT s.instance FROM run s WHERE s.key = ?1))
GROUP BY o.instance HAVING count(*) > 1
