-- ?1 namespace, ?2 key -> instance id
SELECT i.id FROM correlation c JOIN instance i ON i.key = c.instance WHERE c.namespace = ?1 AND c.key = ?2
