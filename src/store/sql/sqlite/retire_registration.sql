-- ?1 moment: workers of which nobody heard since. Flag: there were some.
DELETE FROM registration WHERE seen_us < ?1
