-- Buckets that are not full. ?1 namespace, ?2 now_us, ?3 how many -> key, tokens in millionths, refilled_us, full_us
SELECT key, tokens, refilled_us, full_us FROM bucket WHERE namespace = ?1 AND full_us > ?2 ORDER BY key LIMIT ?3
