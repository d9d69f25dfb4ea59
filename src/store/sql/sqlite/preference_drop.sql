-- ?1 principal, ?2 surface. Flag: there was one.
DELETE FROM preference WHERE principal = ?1 AND surface = ?2
