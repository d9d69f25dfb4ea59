-- ?1 open activity, ?2 namespace -> id of the instance, run, when that was created
SELECT i.id, r.key, r.created_us
FROM activity a JOIN run r ON r.key = a.run JOIN instance i ON i.key = r.instance
WHERE a.key = ?1 AND i.namespace = ?2
