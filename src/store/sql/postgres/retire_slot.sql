WITH gone AS (
    DELETE FROM slot s USING {bare before_us int} WHERE s.lease_until_us < u.before_us RETURNING u.row
)
SELECT DISTINCT row FROM gone
