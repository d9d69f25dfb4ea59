-- ?1 a moment: points that begin before it go. Flag: there were some.
DELETE FROM metric_point WHERE at_us < ?1
