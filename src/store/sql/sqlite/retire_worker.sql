-- ?1 a moment: workers that were last seen before it. Flag: there were some.
DELETE FROM worker WHERE expires_us < ?1
