INSERT INTO run_summary (run, namespace, instance, status, sort_us, type, business_key, queue)
SELECT u.run, u.namespace, u.instance, u.status, u.sort_us, i.type, i.business_key, r.queue
FROM {rows run int, namespace int, instance int, status int, sort_us int}
    JOIN instance i ON i.key = u.instance JOIN run r ON r.key = u.run
