-- I40. ?1 lowest, ?2 highest run key -> links that lead into another namespace
SELECT l.parent_run AS run, l.key AS link, p.namespace AS namespace, c.namespace AS child_namespace
FROM link l JOIN run r ON r.key = l.parent_run JOIN instance p ON p.key = r.instance
    JOIN instance c ON c.key = l.child_instance
WHERE l.parent_run BETWEEN ?1 AND ?2 AND p.namespace <> c.namespace
