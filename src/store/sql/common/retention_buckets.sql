-- Token buckets that are full, and so as good as none. ?1 now_us, ?2 namespace (0: all), ?3 how many -> key, namespace
SELECT b.key, b.namespace FROM bucket b WHERE b.full_us <= ?1 AND (?2 = 0 OR b.namespace = ?2)
ORDER BY b.namespace, b.key LIMIT ?3
