WITH gone AS (
    DELETE FROM metric_point t USING {bare before_us int} WHERE t.at_us < u.before_us RETURNING u.row
)
SELECT DISTINCT row FROM gone
