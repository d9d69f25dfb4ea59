-- ?1 digest -> key, namespace, its name, instance_id, run, step, name, label, created_by, created_us, expires_us, turn,
-- used_us, revoked_us, created_us of the run (null: it is gone)
SELECT a.key, a.namespace, n.name, a.instance_id, a.run, a.step, a.name, a.label, a.created_by, a.created_us, a.expires_us,
    a.turn, a.used_us, a.revoked_us, r.created_us
FROM answer_link a JOIN namespace n ON n.key = a.namespace LEFT JOIN run r ON r.key = a.run
WHERE a.digest = ?1
