-- ?1 run: a summary that is missing, from the rows it is copied from; nothing is folded yet. Flag: it was missing.
INSERT INTO run_summary (run, namespace, instance, status, ended, sort_us, type, business_key, queue)
SELECT r.key, i.namespace, r.instance, r.status, CASE WHEN r.status > 3 THEN r.status ELSE 0 END, r.created_us, i.type,
    i.business_key, r.queue
FROM run r JOIN instance i ON i.key = r.instance WHERE r.key = ?1
ON CONFLICT (run) DO NOTHING
