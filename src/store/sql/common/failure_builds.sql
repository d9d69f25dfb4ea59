-- ?1 namespace, ?2 fingerprint, ?3 after, ?4 how many at most -> builds of the runs that had a failure of a group after that
-- moment; null: of runs that need none
SELECT DISTINCT s.compatibility FROM failure f JOIN run_summary s ON s.run = f.run
WHERE f.namespace = ?1 AND f.print = ?2 AND f.at_us > ?3 ORDER BY s.compatibility LIMIT ?4
