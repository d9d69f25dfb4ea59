-- ?1 namespace, ?2 fingerprint, ?3 how many at most -> failures of a group, the newest first: run, created_us, id of its
-- instance, its type, step, at_us, type, message, handled, the build it needs
SELECT f.run, r.created_us, i.id, s.type, f.step, f.at_us, f.type, f.message, f.handled, s.compatibility
FROM failure f JOIN run r ON r.key = f.run JOIN instance i ON i.key = r.instance JOIN run_summary s ON s.run = f.run
WHERE f.namespace = ?1 AND f.print = ?2 ORDER BY f.at_us DESC, f.run DESC, f.seq DESC LIMIT ?3
