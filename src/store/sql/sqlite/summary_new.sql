-- ?1 run, ?2 namespace, ?3 instance, ?4 status, ?5 sort_us; the rest is known from the rows just made
INSERT INTO run_summary (run, namespace, instance, status, sort_us, type, business_key, queue)
SELECT ?1, ?2, ?3, ?4, ?5, i.type, i.business_key, r.queue FROM instance i JOIN run r ON r.key = ?1 WHERE i.key = ?3
