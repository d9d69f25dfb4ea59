WITH cleared AS (
    DELETE FROM slot s USING {bare owner text} WHERE s.owner <> u.owner AND s.lease_until_us < 0
    RETURNING u.row AS row
)
SELECT DISTINCT row FROM cleared
