-- ?1 a moment: links whose end was before it. Flag: there were some.
DELETE FROM answer_link WHERE expires_us < ?1
