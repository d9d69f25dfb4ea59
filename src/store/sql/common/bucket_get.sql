-- ?1 key -> tokens in millionths, refilled_us
SELECT tokens, refilled_us FROM bucket WHERE key = ?1
