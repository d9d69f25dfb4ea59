-- ?1 principal, ?2 surface -> body, updated_us
SELECT body, updated_us FROM preference WHERE principal = ?1 AND surface = ?2
