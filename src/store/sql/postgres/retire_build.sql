WITH gone AS (
    DELETE FROM build b USING {bare namespace int}
    WHERE b.drained_us IS NULL AND b.promoted_us IS NULL AND (u.namespace = 0 OR b.namespace = u.namespace)
    RETURNING u.row
)
SELECT DISTINCT row FROM gone
