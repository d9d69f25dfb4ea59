-- -> name, created_us, retention_days; by name
SELECT name, created_us, retention_days FROM namespace ORDER BY name
