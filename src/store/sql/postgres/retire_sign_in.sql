WITH gone AS (
    DELETE FROM sign_in s USING {bare before_us int} WHERE s.seen_us < u.before_us RETURNING u.row
)
SELECT DISTINCT row FROM gone
