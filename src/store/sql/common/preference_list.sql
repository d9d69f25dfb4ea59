-- ?1 principal, ?2 how many at most -> surface, body, updated_us
SELECT surface, body, updated_us FROM preference WHERE principal = ?1 ORDER BY surface LIMIT ?2
