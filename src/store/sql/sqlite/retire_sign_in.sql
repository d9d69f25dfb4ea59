-- ?1 a moment: sessions that changed last before it. Flag: there were some.
DELETE FROM sign_in WHERE seen_us < ?1
