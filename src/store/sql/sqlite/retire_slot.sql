-- ?1 a moment: slots whose lease ended before it. Flag: there were some.
DELETE FROM slot WHERE lease_until_us < ?1
