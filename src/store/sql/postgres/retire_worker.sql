WITH gone AS (
    DELETE FROM worker w USING {bare before_us int} WHERE w.expires_us < u.before_us RETURNING u.row
)
SELECT DISTINCT row FROM gone
