-- -> how many builds were ever promoted
SELECT count(*) FROM build WHERE promoted_us IS NOT NULL
