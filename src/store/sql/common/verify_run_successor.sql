-- I19. ?1 lowest, ?2 highest run key, ?3 reason continued, ?4 link of a continuation
-- -> runs that were continued and have no successor, or no link to it
SELECT r.key AS run, r.instance AS instance, r.number AS number
FROM run r LEFT JOIN run s ON s.instance = r.instance AND s.number = r.number + 1
    LEFT JOIN link l ON l.parent_run = r.key AND l.child_run = s.key AND l.kind = ?4
WHERE r.key BETWEEN ?1 AND ?2 AND r.closed_reason = ?3 AND l.key IS NULL
