-- ?1 run key -> what the engine needs to know to run it
SELECT i.id, i.type, i.namespace, r.number, r.queue, r.definition, r.created_us, r.crash_count, r.blocked,
       r.execution_deadline_us, r.run_deadline_us, i.business_key
FROM run r JOIN instance i ON i.key = r.instance
WHERE r.key = ?1
