UPDATE token t SET revoked_us = u.revoked_us FROM {bare id text, revoked_us int}
WHERE t.id = u.id AND t.revoked_us IS NULL
RETURNING u.row
