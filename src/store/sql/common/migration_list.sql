-- -> name, checksum, applied_us, in the order of their names
SELECT name, checksum, applied_us FROM migration ORDER BY name
