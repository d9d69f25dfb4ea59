-- ?1 run -> key, kind, source_run, body, in the order they came
SELECT key, kind, source_run, body FROM inbox WHERE run = ?1 ORDER BY key
