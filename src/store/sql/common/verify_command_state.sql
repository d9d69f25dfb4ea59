-- I13. ?1 lowest, ?2 highest run key, ?3 accepted, ?4 rejected -> commands whose columns contradict each other
SELECT c.key AS command, c.run AS run FROM command c
WHERE (c.run IS NULL OR c.run BETWEEN ?1 AND ?2) AND (c.status NOT IN (?3, ?4) OR (c.status = ?3 AND c.rejection IS NOT NULL)
    OR (c.status = ?4 AND (c.outcome IS NULL OR c.closed_us IS NULL)))
