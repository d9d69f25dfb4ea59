WITH gone AS (
    DELETE FROM answer_link a USING {bare before_us int} WHERE a.expires_us < u.before_us RETURNING u.row
)
SELECT DISTINCT row FROM gone
