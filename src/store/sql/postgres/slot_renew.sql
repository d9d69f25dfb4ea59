WITH renewed AS (
    UPDATE slot s SET lease_until_us = u.lease_until_us FROM {bare owner text, lease_until_us int}
    WHERE s.owner = u.owner
    RETURNING u.row AS row
)
SELECT DISTINCT row FROM renewed
