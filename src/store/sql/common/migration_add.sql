-- ?1 name, ?2 checksum, ?3 applied_us
INSERT INTO migration (name, checksum, applied_us) VALUES (?1, ?2, ?3)
