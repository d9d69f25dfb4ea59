-- I40. ?1 lowest, ?2 highest run key -> buckets that gave out more tokens than they had, or before there was time
SELECT b.tokens AS tokens, b.refilled_us AS refilled_us FROM bucket b
WHERE ?1 < ?2 AND (b.tokens < 0 OR b.refilled_us < 0 OR b.full_us < b.refilled_us)
