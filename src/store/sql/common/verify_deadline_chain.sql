-- I31. ?1 lowest, ?2 highest run key, ?3 reason continued -> runs with another execution deadline than the run they
-- continue
SELECT s.key AS run, r.key AS before
FROM run s JOIN run r ON r.instance = s.instance AND r.number = s.number - 1
WHERE s.key BETWEEN ?1 AND ?2 AND r.closed_reason = ?3
    AND coalesce(r.execution_deadline_us, -1) <> coalesce(s.execution_deadline_us, -1)
