-- -> key, name, created_us, retention_days, description, storage; by name
SELECT key, name, created_us, retention_days, description, storage FROM namespace ORDER BY name
