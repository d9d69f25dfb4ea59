-- ?1 namespace (0: all): builds that were drained and work again, which is as if nobody had drained them. Flag: there were
-- some.
DELETE FROM build WHERE drained_us IS NULL AND promoted_us IS NULL AND (?1 = 0 OR namespace = ?1)
