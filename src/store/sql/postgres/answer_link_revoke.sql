WITH gone AS (
    UPDATE answer_link a SET revoked_us = u.revoked_us
    FROM {bare namespace int, run int, step int, name text, revoked_us int}
    WHERE a.namespace = u.namespace AND a.run = u.run AND a.step = u.step AND a.name = u.name AND a.used_us IS NULL
        AND a.revoked_us IS NULL AND a.expires_us > u.revoked_us
    RETURNING u.row
)
SELECT DISTINCT row FROM gone
