-- I34. ?1 lowest, ?2 highest run key, ?3 link to a child, ?4 deepest allowed -> runs that are among their own
-- ancestors, or too many generations from the first
WITH RECURSIVE up(run, ancestor, depth) AS (
    SELECT child_run, parent_run, 1 FROM link WHERE kind = ?3 AND child_run BETWEEN ?1 AND ?2
    UNION ALL
    SELECT u.run, l.parent_run, u.depth + 1 FROM up u JOIN link l ON l.child_run = u.ancestor AND l.kind = ?3
    WHERE u.depth <= ?4 AND u.ancestor <> u.run
)
SELECT run, ancestor, depth FROM up WHERE ancestor = run OR depth > ?4
