-- Links of a run that still answer, the oldest first. ?1 namespace, ?2 run, ?3 now_us
-- -> key, step, name, label, created_by, created_us, expires_us
SELECT key, step, name, label, created_by, created_us, expires_us FROM answer_link
WHERE namespace = ?1 AND run = ?2 AND used_us IS NULL AND revoked_us IS NULL AND expires_us > ?3
ORDER BY key LIMIT 1000
