-- ?1 key, ?2 namespace -> tokens in millionths, refilled_us
SELECT tokens, refilled_us FROM bucket WHERE key = ?1 AND namespace = ?2
