-- ?1 namespace, ?2 how many at most -> of workflow tasks that workers could not do: what they said, the type of the run
SELECT t.body, i.type FROM task t JOIN run r ON r.key = t.run JOIN instance i ON i.key = r.instance
WHERE t.trouble = 3 AND i.namespace = ?1 LIMIT ?2
