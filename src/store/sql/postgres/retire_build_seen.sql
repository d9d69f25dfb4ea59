WITH gone AS (
    DELETE FROM build_seen b USING {bare before_us int} WHERE b.last_us < u.before_us RETURNING u.row
)
SELECT DISTINCT row FROM gone
