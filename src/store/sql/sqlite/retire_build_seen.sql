-- ?1 moment: builds of which no worker was there since. Flag: there were some.
DELETE FROM build_seen WHERE last_us < ?1
