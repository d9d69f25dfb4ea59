WITH gone AS (
    DELETE FROM registration r USING {bare before_us int} WHERE r.seen_us < u.before_us RETURNING u.row
)
SELECT DISTINCT row FROM gone
