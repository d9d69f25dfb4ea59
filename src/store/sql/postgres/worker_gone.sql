WITH gone AS (
    UPDATE worker w SET expires_us = u.now_us FROM {bare name text, now_us int}
    WHERE w.name = u.name AND w.expires_us > u.now_us
    RETURNING u.row
)
SELECT DISTINCT row FROM gone
